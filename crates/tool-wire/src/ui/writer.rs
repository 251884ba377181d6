//! Writer of the AI SDK's message stream. It converts the events of a turn to chunks.

use std::borrow::Cow;
use std::collections::HashSet;

use serde_json::value::RawValue;
use tool_core::turn::{ClientResult, ModelMessage};
use tool_core::{ToolCall, Toolset};

use super::{ApprovalResponses, Chunk, FinishReason, UiError};
use crate::json::json;
use crate::{Delta, ModelReply, StopReason};

mod results;

/// Converts the events of one assistant message, which answers one request of an interface, to chunks.
///
/// It tracks the state of each call, and refuses steps that the protocol cannot show: a second result, progress after the result, or the result of a
/// call that was never shown. Compiled tools become parts `tool-<name>`; tools created at run time, and names without a tool, become parts
/// `dynamic-tool`.
///
/// The methods accept values that a host already has, for example the [`Delta`]s of a streamed reply, its [`ModelMessage`], the
/// [`ToolEvent`](tool_core::ToolEvent)s of a call, or the reports of [`Turns`](tool_core::turn::Turns) (`progress`, `observe`, their
/// [`Turn`](tool_core::turn::Turn) or [`Outcome`](tool_core::turn::Outcome)).
#[derive(Debug)]
pub struct Writer {
    tools: Toolset,
    calls: Vec<Call>,
    /// The ids that were sent to the interface.
    shown: HashSet<String>,
    /// The text or reasoning part that is open.
    open: Option<Open>,
    texts: u32,
    reasonings: u32,
    /// Whether the text and the reasoning of this step were shown while they streamed.
    streamed: Streamed,
    shows_reasoning: bool,
    in_step: bool,
    /// The number of calls that were shown before the open step.
    earlier_calls: usize,
    finish: FinishReason,
}

#[derive(Clone, Copy, Debug, Default)]
struct Streamed {
    text: bool,
    reasoning: bool,
    /// Whether the text of a guardrail was shown in place of the text of the model.
    guardrail: bool,
}

/// The part that is being written, with its id.
#[derive(Clone, Debug)]
enum Open {
    Text(String),
    Reasoning(String),
}

/// A call that the interface shows, and its state.
#[derive(Debug)]
struct Call {
    id: String,
    /// The id in the interface. If an id occurs twice, the second call gets a different id.
    shown: String,
    name: String,
    /// Version 5 of the AI SDK finds the part of a dynamic call only if the chunks of its output have this flag too.
    dynamic: bool,
    input: String,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Streaming,
    Available,
    Asked,
    Answered { approved: bool },
    Done,
}

impl State {
    fn word(self) -> &'static str {
        match self {
            Self::Streaming => "input-streaming",
            Self::Available => "input-available",
            Self::Asked => "approval-requested",
            Self::Answered { .. } => "approval-responded",
            Self::Done => "over",
        }
    }
}

impl Writer {
    /// Creates the writer of a new message. The toolset provides the titles of the tools, and states which tools are compiled.
    pub fn new(tools: &Toolset) -> Self {
        Self {
            tools: tools.clone(),
            calls: Vec::new(),
            shown: HashSet::new(),
            open: None,
            texts: 0,
            reasonings: 0,
            streamed: Streamed::default(),
            shows_reasoning: true,
            in_step: false,
            earlier_calls: 0,
            finish: FinishReason::Stop,
        }
    }

    /// Leaves out the model's reasoning, which the interface gets as parts of the type `reasoning` by default.
    #[must_use]
    pub fn without_reasoning(mut self) -> Self {
        self.shows_reasoning = false;
        self
    }

    /// Creates a writer that continues the message that contains the answers: the results of its open calls are added to this message.
    pub fn resume(tools: &Toolset, answers: &ApprovalResponses) -> Self {
        let mut writer = Self::new(tools);
        for (id, name, input, approved) in answers.open() {
            writer.shown.insert(id.to_owned());
            let state = match approved {
                None => State::Available,
                Some(approved) => State::Answered { approved },
            };
            let (dynamic, _) = writer.look(name);
            writer.calls.push(Call {
                id: id.to_owned(),
                shown: id.to_owned(),
                name: name.to_owned(),
                dynamic,
                input,
                state,
            });
        }
        writer
    }

    /// Sets the answer of a person to the approval request of a call, after the messages of a thread were passed to this writer. A call that was not
    /// shown, such as a nested one, is added. Returns the chunks of the request, for an interface that does not show it yet.
    ///
    /// [`resume`](Self::resume) reads the calls from the interface. This method is for hosts that read them from the thread.
    ///
    /// ```
    /// use tool_core::{ToolCall, toolset};
    /// use tool_core::turn::ToolMessage;
    /// use tool_wire::ui::Writer;
    ///
    /// let mut ui = Writer::new(&toolset![]);
    /// let _ = ui.answered(&ToolCall::new("c-1", "add", "{}"), "ta1.token", true);
    /// let result: ToolMessage = serde_json::from_str(r#"{"id": "c-1", "name": "add", "text": "3", "output": 3}"#)?;
    /// assert_eq!(ui.stored(&result)?.len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn answered(&mut self, call: &ToolCall, approval: &str, approved: bool) -> Vec<Chunk> {
        if self.call(&call.id).is_err() {
            self.begin(&call.id, &call.name, State::Available);
        }
        let mut chunks = Vec::new();
        let is_new = self
            .call(&call.id)
            .is_ok_and(|known| known.input != call.arguments);
        if is_new {
            chunks.extend(self.show_input(&call.id, &call.arguments));
        }
        if let Ok(known) = self.call(&call.id)
            && known.state != State::Done
        {
            known.state = State::Answered { approved };
            chunks.push(Chunk::ToolApprovalRequest {
                approval_id: approval.to_owned(),
                tool_call_id: known.shown.clone(),
                reason: None,
            });
        }
        chunks
    }

    /// Returns results of the client with the ids that the provider gave to their calls. The interface has different ids if the provider used an id
    /// twice.
    pub fn own_ids(&self, results: Vec<ClientResult>) -> Vec<ClientResult> {
        let own = |result: ClientResult| {
            let mut calls = self.calls.iter();
            match calls.find(|call| call.shown == result.call()) {
                Some(call) => result.for_call(call.id.clone()),
                None => result,
            }
        };
        results.into_iter().map(own).collect()
    }

    /// Begins the message. If `message` is the id of the interface's last message, continues that message.
    #[must_use = "send the chunks"]
    pub fn start(&mut self, message: Option<&str>) -> Vec<Chunk> {
        vec![Chunk::Start {
            message_id: message.map(str::to_owned),
        }]
    }

    /// Begins a step: a request is sent to the model. [`delta`](Self::delta) and [`message`](Self::message) begin a step if none is open.
    #[must_use = "send the chunks"]
    pub fn step(&mut self) -> Vec<Chunk> {
        let mut chunks = self.end_step();
        chunks.push(Chunk::StartStep);
        (self.in_step, self.streamed) = (true, Streamed::default());
        self.earlier_calls = self.calls.len();
        chunks
    }

    /// Withdraws the text, the reasoning and the calls of the open step, which is repeated. Only version 7 of the AI SDK supports the chunk; versions
    /// 5 and 6 fail with an error.
    ///
    /// ```
    /// use tool_core::toolset;
    /// use tool_wire::Delta;
    /// use tool_wire::ui::{Chunk, Writer};
    ///
    /// let mut ui = Writer::new(&toolset![]);
    /// ui.delta(&Delta::Text("Hel".to_owned()))?;
    /// assert!(matches!(ui.reset_step()[..], [Chunk::ResetStep]));
    /// let again = ui.delta(&Delta::Text("Hello.".to_owned()))?;
    /// assert!(matches!(again[..], [Chunk::TextStart { .. }, Chunk::TextDelta { .. }]));
    /// # Ok::<(), tool_wire::ui::UiError>(())
    /// ```
    #[must_use = "send the chunks"]
    pub fn reset_step(&mut self) -> Vec<Chunk> {
        if !self.in_step {
            return Vec::new();
        }
        // The interface forgets the open parts, so they get no end.
        (self.open, self.streamed) = (None, Streamed::default());
        for call in self.calls.drain(self.earlier_calls..) {
            self.shown.remove(&call.shown);
        }
        vec![Chunk::ResetStep]
    }

    fn end_step(&mut self) -> Vec<Chunk> {
        let mut chunks = self.end_open();
        if std::mem::take(&mut self.in_step) {
            chunks.push(Chunk::FinishStep);
        }
        chunks
    }

    fn begin_step(&mut self) -> Vec<Chunk> {
        if self.in_step {
            Vec::new()
        } else {
            self.step()
        }
    }

    fn end_open(&mut self) -> Vec<Chunk> {
        let ended = self.open.take().map(|open| match open {
            Open::Text(id) => Chunk::TextEnd { id },
            Open::Reasoning(id) => Chunk::ReasoningEnd { id },
        });
        ended.into_iter().collect()
    }

    fn write(&mut self, text: &str) -> Vec<Chunk> {
        let mut chunks = Vec::new();
        let id = if let Some(Open::Text(id)) = &self.open {
            id.clone()
        } else {
            chunks.extend(self.end_open());
            self.texts += 1;
            let id = format!("text-{}", self.texts);
            chunks.push(Chunk::TextStart { id: id.clone() });
            id
        };
        self.open = Some(Open::Text(id.clone()));
        chunks.push(Chunk::TextDelta {
            id,
            delta: text.to_owned(),
        });
        chunks
    }

    fn think(&mut self, piece: &str) -> Vec<Chunk> {
        let mut chunks = Vec::new();
        if !self.shows_reasoning {
            return chunks;
        }
        let (id, piece) = if let Some(Open::Reasoning(id)) = &self.open {
            (id.clone(), piece)
        } else {
            // An empty line separates two blocks of one part, so the empty line is dropped before the first block.
            let piece = piece.trim_start();
            if piece.is_empty() {
                return chunks;
            }
            chunks.extend(self.end_open());
            self.reasonings += 1;
            let id = format!("reasoning-{}", self.reasonings);
            chunks.push(Chunk::ReasoningStart { id: id.clone() });
            (id, piece)
        };
        self.open = Some(Open::Reasoning(id.clone()));
        chunks.push(Chunk::ReasoningDelta {
            id,
            delta: piece.to_owned(),
        });
        chunks
    }

    /// Shows a new piece of a streamed reply.
    pub fn delta(&mut self, delta: &Delta) -> Result<Vec<Chunk>, UiError> {
        let mut chunks = self.begin_step();
        match delta {
            Delta::Reasoning(piece) => {
                self.streamed.reasoning = true;
                chunks.extend(self.think(piece));
            }
            Delta::Text(text) => {
                self.streamed.text = true;
                chunks.extend(self.write(text));
            }
            Delta::Call { id, name } => {
                chunks.extend(self.end_open());
                let shown = self.begin(id, name, State::Streaming);
                let (dynamic, title) = self.look(name);
                chunks.push(Chunk::ToolInputStart {
                    tool_call_id: shown,
                    tool_name: name.clone(),
                    dynamic,
                    title,
                });
            }
            Delta::Arguments { id, text } => {
                let call = self.call(id)?;
                call.is(&[State::Streaming], "more arguments")?;
                chunks.push(Chunk::ToolInputDelta {
                    tool_call_id: call.shown.clone(),
                    input_text_delta: text.clone(),
                });
            }
        }
        Ok(chunks)
    }

    /// Shows a complete reply, whether or not it was streamed before.
    pub fn reply(&mut self, reply: &ModelReply) -> Result<Vec<Chunk>, UiError> {
        self.finish = match reply.stop() {
            StopReason::End | StopReason::Calls | StopReason::Paused => FinishReason::Stop,
            StopReason::Length => FinishReason::Length,
            StopReason::Filtered => FinishReason::ContentFilter,
            _ => FinishReason::Other,
        };
        self.message(reply.message())
    }

    /// Shows the model's message: the end of a streamed text, or the complete text with the model's reasoning, and its calls. Calls of a message that
    /// was cut off, and calls whose arguments are not JSON, are shown as failed.
    pub fn message(&mut self, message: &ModelMessage) -> Result<Vec<Chunk>, UiError> {
        let mut chunks = self.begin_step();
        if matches!(message.stop, Some(StopReason::Guardrail(_))) {
            chunks.extend(self.withheld(&message.text));
            return Ok(chunks);
        }
        let Streamed {
            text, reasoning, ..
        } = self.streamed;
        if !text && !reasoning && !message.reasoning.is_empty() {
            chunks.extend(self.think(&message.reasoning));
        }
        if !text && !message.text.is_empty() {
            chunks.extend(self.write(&message.text));
        }
        chunks.extend(self.end_open());
        // An id may occur twice in a message, so each streamed call is matched once.
        let mut taken = Vec::new();
        for call in &message.calls {
            let streaming = |(at, known): &(usize, &Call)| {
                known.id == call.id && known.state == State::Streaming && !taken.contains(at)
            };
            let streamed = self.calls.iter().enumerate().find(streaming);
            let at = if let Some((at, _)) = streamed {
                at
            } else {
                self.begin(&call.id, &call.name, State::Streaming);
                self.calls.len() - 1
            };
            taken.push(at);
            let (dynamic, title) = self.look(&call.name);
            let known = &mut self.calls[at];
            let (tool_call_id, tool_name) = (known.shown.clone(), known.name.clone());
            known.input.clone_from(&call.arguments);
            known.state = State::Available;
            let input = serde_json::from_str::<Box<RawValue>>(&call.arguments);
            let fault = match &input {
                _ if message.truncated => Some("the reply was cut off"),
                Err(_) => Some("the arguments are not JSON"),
                Ok(_) => None,
            };
            let input = input.unwrap_or_else(|_| json(&call.arguments));
            chunks.push(match fault {
                None => Chunk::ToolInputAvailable {
                    tool_call_id,
                    tool_name,
                    input,
                    dynamic,
                    title,
                },
                Some(fault) => Chunk::ToolInputError {
                    tool_call_id,
                    tool_name,
                    input,
                    error_text: fault.to_owned(),
                    dynamic,
                    title,
                },
            });
        }
        Ok(chunks)
    }

    /// Shows the text of a guardrail in a separate part. If the host shows text before it is checked, the interface already has the text of the model.
    fn withheld(&mut self, text: &str) -> Vec<Chunk> {
        self.finish = FinishReason::ContentFilter;
        let mut chunks = self.begin_step();
        if !std::mem::replace(&mut self.streamed.guardrail, true) {
            chunks.extend(self.end_open());
            chunks.extend(self.write(text));
        }
        chunks.extend(self.end_open());
        chunks
    }

    /// Shows an error that ends the message. The user sees the text.
    #[must_use = "send the chunks"]
    pub fn error(&mut self, text: &str) -> Vec<Chunk> {
        self.finish = FinishReason::Error;
        vec![Chunk::Error {
            error_text: text.to_owned(),
        }]
    }

    /// Ends a message that was stopped; [`DONE`](super::DONE) follows.
    #[must_use = "send the chunks"]
    pub fn abort(&mut self) -> Vec<Chunk> {
        let mut chunks = self.end_step();
        // Version 5 of the AI SDK refuses a chunk with a reason.
        chunks.push(Chunk::Abort { reason: None });
        chunks
    }

    /// Ends the message; [`DONE`](super::DONE) follows.
    #[must_use = "send the chunks"]
    pub fn finish(&mut self) -> Vec<Chunk> {
        let mut chunks = self.end_step();
        chunks.push(Chunk::Finish {
            finish_reason: Some(self.finish),
        });
        chunks
    }

    /// Adds a call, and returns its id in the interface.
    fn begin(&mut self, id: &str, name: &str, state: State) -> String {
        let mut shown = id.to_owned();
        let mut count = 1;
        while !self.shown.insert(shown.clone()) {
            count += 1;
            shown = format!("{id}#{count}");
        }
        let (dynamic, _) = self.look(name);
        self.calls.push(Call {
            id: id.to_owned(),
            shown: shown.clone(),
            name: name.to_owned(),
            dynamic,
            input: String::new(),
            state,
        });
        shown
    }

    /// Returns the open call with this id, otherwise the last call with this id.
    fn call(&mut self, id: &str) -> Result<&mut Call, UiError> {
        let open = |call: &Call| call.id == id && call.state != State::Done;
        let at = self.calls.iter().position(open);
        let at = at.or_else(|| self.calls.iter().rposition(|call| call.id == id));
        at.map(|at| &mut self.calls[at])
            .ok_or_else(|| UiError::NoSuchCall {
                call: id.to_owned(),
            })
    }

    /// Returns whether the interface shows the tool as dynamic, and the tool's title.
    fn look(&self, name: &str) -> (bool, Option<String>) {
        match self.tools.get(name) {
            None => (true, None),
            Some(def) => (def.is_dynamic(), def.title().map(Cow::into_owned)),
        }
    }
}

impl Call {
    fn is(&self, states: &[State], step: &'static str) -> Result<(), UiError> {
        if states.contains(&self.state) {
            return Ok(());
        }
        Err(self.not(step))
    }

    fn not(&self, step: &'static str) -> UiError {
        UiError::Order {
            call: self.id.clone(),
            state: self.state.word(),
            step,
        }
    }
}
