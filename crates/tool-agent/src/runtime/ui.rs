//! The AI SDK's message stream as a view of the events of a runtime.

use serde_json::value::to_raw_value;
use tool_core::Ticket;
use tool_core::store::RunCause;
use tool_core::turn::{GuardrailKind, ModelMessage, Outcome, StopReason, ToolMessage};
use tool_wire::Delta;
use tool_wire::ui::{Chunk, UiError, Writer};

use super::event::{AgentEvent, AgentEventKind};

/// The text for the user after a failed run. The event contains the reason, for the operator.
const FAILED: &str = "the answer could not be completed, try again";

/// Converts the events of one run to the chunks of the AI SDK's message stream. The events come from
/// [`AgentRuntime::stream`](super::AgentRuntime::stream) or [`StoredEvents`](super::StoredEvents).
///
/// The view shows the conversation of the run. A run that waits for approvals shows them if the host passes them to [`ask`](Self::ask), because
/// events contain no tokens. Events of the threads below the conversation produce no chunks, except the result of a call whose approval was shown.
///
/// An interface of version 5 or 6 of the AI SDK cannot withdraw text. If shown pieces are withdrawn, because a request failed after its first piece,
/// a guardrail refused the reply, or the process of the run died, the message ends with an error. [`holding`](Self::holding) shows each step when its
/// message is complete, so nothing is withdrawn; [`Restart::Refuse`](crate::model::Restart::Refuse) lets such a request fail instead. For interfaces
/// of version 7 alone, [`resetting`](Self::resetting) withdraws the pieces.
///
/// ```
/// use futures::StreamExt as _;
/// use tool_agent::agent::Agent;
/// use tool_agent::model::{Script, ScriptedModel};
/// use tool_agent::runtime::{AgentEntry, AgentRuntime, UiView};
/// use tool_core::store::MemoryStore;
/// use tool_core::turn::Turns;
/// use tool_core::{Gate, ToolContext, toolset};
/// use tool_wire::ui::{DONE, Writer};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let model = ScriptedModel::new([Script::text("Hello there.")]);
/// let runtime = AgentRuntime::builder(Turns::new(MemoryStore::default()), &Gate::builder().build())
///     .agent(AgentEntry::new(Agent::builder("chief", model).build()?))
///     .build()?;
/// let cx = ToolContext::builder().workspace("acme").conversation("main").build();
///
/// let mut view = UiView::new(Writer::new(&toolset![]), "main");
/// let mut body: String = view.start(None).iter().map(ToString::to_string).collect();
/// let mut events = runtime.stream("chief", "Hello.", &cx);
/// while let Some(event) = events.next().await {
///     body.extend(view.event(&event)?.iter().map(ToString::to_string));
/// }
/// body += DONE;
/// assert!(body.contains(r#"{"type":"text-delta","id":"text-1","delta":"Hello "}"#));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[doc(alias("useChat", "UIMessageStream", "Vercel"))]
pub struct UiView {
    writer: Writer,
    conversation: String,
    /// The text of the open step that the interface shows.
    shown: String,
    /// Whether the interface shows pieces of the open step.
    has_pieces: bool,
    pieces: Pieces,
    is_over: bool,
}

/// The handling of the pieces of a step before its message is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pieces {
    /// They are shown. If they are withdrawn, the message ends with an error.
    Shown,
    /// They are shown, and can be withdrawn.
    Reset,
    /// They are not shown.
    Held,
}

impl UiView {
    /// Creates a view of a conversation. The writer is new, or continues a message of the interface ([`Writer::resume`]).
    pub fn new(writer: Writer, conversation: impl Into<String>) -> Self {
        Self {
            writer,
            conversation: conversation.into(),
            shown: String::new(),
            has_pieces: false,
            pieces: Pieces::Shown,
            is_over: false,
        }
    }

    /// Shows the text and the calls of a step when its message is complete, instead of piece by piece.
    #[must_use]
    pub fn holding(mut self) -> Self {
        self.pieces = Pieces::Held;
        self
    }

    /// Withdraws pieces with the chunk `reset-step`, which only version 7 of the AI SDK supports. Other versions end the message with an error.
    #[must_use]
    pub fn resetting(mut self) -> Self {
        self.pieces = Pieces::Reset;
        self
    }

    /// Returns the writer, for messages that are not events, such as an answer to an approval request.
    pub fn writer(&mut self) -> &mut Writer {
        &mut self.writer
    }

    /// Begins the message, like [`Writer::start`].
    #[must_use = "send the chunks"]
    pub fn start(&mut self, message: Option<&str>) -> Vec<Chunk> {
        self.writer.start(message)
    }

    /// Returns whether the message has ended. Later events are ignored.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Shows the approval requests of a run that waits. Call it between the events [`Waiting`](AgentEventKind::Waiting) and
    /// [`RunEnded`](AgentEventKind::RunEnded). [`AgentRuntime::waiting`](super::AgentRuntime::waiting) returns the tickets.
    ///
    /// An interface sends the answers when all calls of the last step have an answer. If no call of the conversation itself waits, the requests of
    /// calls in the threads below the conversation are therefore shown in a separate step. [`call_below`](Self::call_below) returns the ids of these
    /// calls.
    ///
    /// # Errors
    ///
    /// Fails if the interface does not show a call of a ticket.
    pub fn ask(&mut self, tickets: Vec<Ticket>) -> Result<Vec<Chunk>, UiError> {
        let (own, below): (Vec<_>, Vec<_>) =
            (tickets.into_iter()).partition(|ticket| self.is_own(ticket.thread.as_deref()));
        if !own.is_empty() || below.is_empty() {
            return self.writer.outcome(&Outcome::Waiting(own));
        }
        let mut chunks = self.writer.step();
        for ticket in below {
            let call = Self::call_below(ticket.thread.as_deref().unwrap_or_default(), &ticket.call);
            let parent = Some(ticket.parent.unwrap_or_default());
            chunks.extend(self.writer.ask(&Ticket {
                call,
                parent,
                ..ticket
            })?);
        }
        Ok(chunks)
    }

    fn is_own(&self, conversation: Option<&str>) -> bool {
        conversation.is_none_or(|conversation| conversation == self.conversation)
    }

    /// Returns the id that a call in a thread below the conversation has in the interface.
    pub fn call_below(conversation: &str, call: &str) -> String {
        format!("{conversation}/{call}")
    }

    /// Returns the chunks of an event.
    ///
    /// # Errors
    ///
    /// Fails if the protocol cannot show the event, such as the result of a call that the interface does not show. After an error, later events can
    /// still be shown.
    pub fn event(&mut self, event: &AgentEvent) -> Result<Vec<Chunk>, UiError> {
        if self.is_over {
            return Ok(Vec::new());
        }
        if event.conversation != self.conversation {
            return Ok(self.below(event));
        }
        match &event.kind {
            AgentEventKind::StepStarted { .. } | AgentEventKind::StepRestarted
                if self.has_pieces =>
            {
                Ok(self.withdraw())
            }
            AgentEventKind::StepStarted { .. } => Ok(self.writer.step()),
            AgentEventKind::Text { delta } => {
                if self.pieces != Pieces::Held {
                    self.shown.push_str(delta);
                }
                self.piece(&Delta::Text(delta.clone()))
            }
            AgentEventKind::Reasoning { delta } => self.piece(&Delta::Reasoning(delta.clone())),
            AgentEventKind::CallStarted { id, name } => self.piece(&Delta::Call {
                id: id.clone(),
                name: name.clone(),
            }),
            AgentEventKind::CallArguments { id, delta } => self.piece(&Delta::Arguments {
                id: id.clone(),
                text: delta.clone(),
            }),
            AgentEventKind::Message { text, calls, .. } => {
                let shown = std::mem::take(&mut self.shown);
                self.has_pieces = false;
                let mut message = ModelMessage {
                    text: text.clone(),
                    calls: calls.clone(),
                    ..ModelMessage::default()
                };
                let mut chunks = Vec::new();
                match text.strip_prefix(&*shown) {
                    // A reader of stored events may miss the last pieces.
                    Some(rest) if !shown.is_empty() && !rest.is_empty() => {
                        chunks.extend(self.writer.delta(&Delta::Text(rest.to_owned()))?);
                    }
                    Some(_) => {}
                    // The text of a guardrail replaces the text of the model, which the host showed before the check.
                    None => message.stop = Some(StopReason::Guardrail(GuardrailKind::Output)),
                }
                chunks.extend(self.writer.message(&message)?);
                Ok(chunks)
            }
            AgentEventKind::Progress { id, step, .. } => match to_raw_value(step) {
                Ok(step) => self.writer.progress(id, &step),
                Err(_) => Ok(Vec::new()),
            },
            AgentEventKind::Result { .. } => match result(&event.kind) {
                Some(result) => self.writer.stored(&result),
                None => Ok(Vec::new()),
            },
            AgentEventKind::RunEnded { cause, .. } => self.end(cause),
            // Other events are not part of the message.
            _ => Ok(Vec::new()),
        }
    }

    /// Shows the result of a call below the conversation whose approval was shown.
    fn below(&mut self, event: &AgentEvent) -> Vec<Chunk> {
        let Some(mut result) = result(&event.kind) else {
            return Vec::new();
        };
        result.id = Self::call_below(&event.conversation, &result.id);
        // The writer does not know the calls whose approval was not shown.
        self.writer.stored(&result).unwrap_or_default()
    }

    /// Withdraws the pieces of the open step.
    fn withdraw(&mut self) -> Vec<Chunk> {
        if self.pieces != Pieces::Reset {
            return self.fail();
        }
        self.has_pieces = false;
        self.shown.clear();
        self.writer.reset_step()
    }

    fn piece(&mut self, delta: &Delta) -> Result<Vec<Chunk>, UiError> {
        if self.pieces == Pieces::Held {
            return Ok(Vec::new());
        }
        self.has_pieces = true;
        self.writer.delta(delta)
    }

    fn end(&mut self, cause: &str) -> Result<Vec<Chunk>, UiError> {
        let outcome = match RunCause::from_word(cause) {
            Some(RunCause::Cancelled | RunCause::Interrupted) => {
                self.is_over = true;
                return Ok(self.writer.abort());
            }
            Some(RunCause::Replied | RunCause::Complete) => Outcome::Answered(String::new()),
            Some(RunCause::Waiting) => Outcome::Waiting(Vec::new()),
            Some(RunCause::Length) => Outcome::Length(String::new()),
            Some(RunCause::Filtered | RunCause::Guardrail) => Outcome::Filtered(String::new()),
            Some(RunCause::Steps) => Outcome::StepLimit,
            Some(RunCause::Budget | RunCause::SharedBudget) => Outcome::Budget,
            Some(RunCause::Time) => Outcome::TimeLimit,
            Some(RunCause::Deadline) => Outcome::Deadline,
            Some(RunCause::Draining) => Outcome::Draining,
            _ => return Ok(self.fail()),
        };
        self.is_over = true;
        let mut chunks = self.writer.outcome(&outcome)?;
        chunks.extend(self.writer.finish());
        Ok(chunks)
    }

    /// Ends the message with an error.
    fn fail(&mut self) -> Vec<Chunk> {
        self.is_over = true;
        let mut chunks = self.writer.error(FAILED);
        chunks.extend(self.writer.finish());
        chunks
    }
}

/// Returns the result of an event in the form in which a thread stores results, without citations; `None` for other events.
fn result(kind: &AgentEventKind) -> Option<ToolMessage> {
    let AgentEventKind::Result {
        id,
        name,
        text,
        error,
        output,
    } = kind
    else {
        return None;
    };
    Some(ToolMessage {
        id: id.clone(),
        name: name.clone(),
        text: text.clone(),
        model: None,
        error: error.clone(),
        output: output.as_ref().and_then(|output| to_raw_value(output).ok()),
        citations: Vec::new(),
    })
}
