//! Events of a runtime: one typed stream for a conversation and the threads below it.

use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use futures::future::BoxFuture;
use futures::stream::Stream;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tool_core::store::{Timestamp, Usage};
use tool_core::turn::{ModelMessage, Outcome, ToolMessage, UserMessage};
use tool_core::{Effect, FromContext, Ticket, ToolCall, ToolContext, ToolError};
use tool_wire::Delta;

use super::AgentRuntime;
use super::error::RuntimeError;
use super::run::Run;
use crate::model::ModelEvent;

/// The version of the format of [`AgentEvent`]. An incompatible change increases it.
pub const EVENT_VERSION: u32 = 1;

/// An event of a conversation or of a thread below it.
///
/// ```
/// use tool_agent::runtime::AgentEvent;
///
/// let json = r#"{"version":1,"conversation":"main","agent":"chief","at":1795687200000,"type":"text","delta":"Hello"}"#;
/// let event: AgentEvent = serde_json::from_str(json)?;
/// assert_eq!(event.kind.name(), "text");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AgentEvent {
    /// The version of the format: [`EVENT_VERSION`].
    pub version: u32,
    /// The conversation of the thread.
    pub conversation: String,
    /// The conversation that started the thread; `None` for a conversation with a user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// The agent that is active in the thread.
    pub agent: String,
    /// The time at which the event happened.
    pub at: Timestamp,
    /// The kind of the event, with its data.
    #[serde(flatten)]
    pub kind: AgentEventKind,
}

/// The kind of an [`AgentEvent`], with its data.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum AgentEventKind {
    /// A run of the thread began.
    RunStarted,
    /// A request is sent to the model.
    StepStarted {
        /// The number of the step in the run; the first is 1. The continuation of a turn that the provider paused has the number of the step that it
        /// continues.
        step: u32,
    },
    /// The next piece of the model's reasoning.
    Reasoning {
        /// The piece of text.
        delta: String,
    },
    /// The next piece of the model's text.
    Text {
        /// The piece of text.
        delta: String,
    },
    /// The model began to write a call.
    CallStarted {
        /// The provider's id of the call.
        id: String,
        /// The name of the tool.
        name: String,
    },
    /// The next piece of the arguments of a call.
    CallArguments {
        /// The provider's id of the call.
        id: String,
        /// The piece of JSON text.
        delta: String,
    },
    /// All pieces since the last [`StepStarted`](Self::StepStarted) are withdrawn, because the request failed or a guardrail refused its reply.
    StepRestarted,
    /// The message of the model is complete.
    Message {
        /// The text of the message.
        text: String,
        /// The calls of the message.
        calls: Vec<ToolCall>,
        /// The tokens of the request, if the provider reports them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        usage: Option<Usage>,
    },
    /// A running call reported progress.
    Progress {
        /// The provider's id of the call.
        id: String,
        /// The name of the tool.
        name: String,
        /// The step, as the tool reports it.
        step: Value,
    },
    /// The result of a call was stored.
    Result {
        /// The provider's id of the call.
        id: String,
        /// The name of the tool.
        name: String,
        /// The text that the model reads.
        text: String,
        /// The kind of the error, if the call failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<String>,
        /// The payload, for the client.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        output: Option<Value>,
    },
    /// The conversation was passed to another agent.
    Handoff {
        /// The agent that continues.
        to: String,
    },
    /// A child thread began or continues: an agent that runs within a call, or a sub-agent.
    ChildStarted {
        /// The conversation of the child.
        child: String,
        /// The agent of the child.
        child_agent: String,
        /// The display name of the child.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
    },
    /// A child thread ended its session.
    ChildEnded {
        /// The conversation of the child.
        child: String,
        /// Whether the session failed.
        failed: bool,
    },
    /// Calls wait for approvals.
    Waiting {
        /// The approvals that are open.
        approvals: Vec<EventApproval>,
    },
    /// The run of the thread ended.
    RunEnded {
        /// The cause, as the store names it; `busy` if another run of the thread is active, and `error` if the run could not continue.
        cause: String,
        /// The error, for the operator, if the cause is `error`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    },
}

/// An open approval in an event. The token, which is a credential, and the arguments are in the [`Ticket`] of the outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct EventApproval {
    /// The id of the approval.
    pub id: String,
    /// The name of the tool whose call waits for the approval.
    pub tool: String,
    /// The conversation of the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
}

impl From<&Ticket> for EventApproval {
    fn from(ticket: &Ticket) -> Self {
        Self {
            id: ticket.id.clone(),
            tool: ticket.tool.clone(),
            conversation: ticket.thread.clone(),
        }
    }
}

impl AgentEventKind {
    pub(super) fn message(message: &ModelMessage) -> Self {
        Self::Message {
            text: message.text.clone(),
            calls: message.calls.clone(),
            usage: message.usage,
        }
    }

    pub(super) fn result(result: &ToolMessage) -> Self {
        let output = result.output.as_ref();
        Self::Result {
            id: result.id.clone(),
            name: result.name.clone(),
            text: result.text.clone(),
            error: result.error.clone(),
            output: output.and_then(|output| serde_json::from_str(output.get()).ok()),
        }
    }

    /// Returns the name of the kind, as it is serialized in `type`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::RunStarted => "run_started",
            Self::StepStarted { .. } => "step_started",
            Self::Reasoning { .. } => "reasoning",
            Self::Text { .. } => "text",
            Self::CallStarted { .. } => "call_started",
            Self::CallArguments { .. } => "call_arguments",
            Self::StepRestarted => "step_restarted",
            Self::Message { .. } => "message",
            Self::Progress { .. } => "progress",
            Self::Result { .. } => "result",
            Self::Handoff { .. } => "handoff",
            Self::ChildStarted { .. } => "child_started",
            Self::ChildEnded { .. } => "child_ended",
            Self::Waiting { .. } => "waiting",
            Self::RunEnded { .. } => "run_ended",
        }
    }
}

/// A function that receives events.
pub(super) type EventObserver = dyn Fn(&AgentEvent) + Send + Sync;

/// The observer of one stream, as a host value, which the contexts of the threads below inherit.
#[derive(Clone)]
pub(super) struct EventSink(pub(super) Arc<EventObserver>);

impl FromContext for EventSink {
    const EFFECT: Effect = Effect::NONE;

    fn from_context(cx: &ToolContext) -> Result<Self, ToolError> {
        cx.extension()
            .ok_or_else(|| ToolError::unavailable("the stream of events"))
    }
}

impl Run {
    /// Passes an event to the recorder of the run, to the observers of the runtime, and to the stream to which the run belongs.
    pub(super) fn emit(&self, kind: AgentEventKind) {
        if !self.is_observed() {
            return;
        }
        let event = self.event(kind);
        if let Some(recorder) = &self.recorder {
            recorder.take(&event);
        }
        self.show(&event);
    }

    /// Passes on the event that a child thread began or ended, and stores it even if this run has ended.
    pub(super) async fn emit_of_child(&self, kind: AgentEventKind) {
        if !self.is_observed() {
            return;
        }
        let event = self.event(kind);
        self.show(&event);
        if let Some(recorder) = &self.recorder {
            recorder.append(event).await;
        }
    }

    /// Stores the events that were emitted before, so that readers get them before the next message of the
    /// thread.
    pub(super) async fn store_events(&self) {
        if let Some(recorder) = &self.recorder {
            recorder.flush().await;
        }
    }

    pub(super) fn event(&self, kind: AgentEventKind) -> AgentEvent {
        AgentEvent {
            version: EVENT_VERSION,
            conversation: self.thread.conversation().to_owned(),
            parent: self
                .row
                .as_ref()
                .map(|row| row.parent.conversation().to_owned()),
            agent: self.runtime.entry(self.current()).name().to_owned(),
            at: Timestamp::now(),
            kind,
        }
    }

    /// Passes an event to the observers in this process.
    fn show(&self, event: &AgentEvent) {
        for observer in &self.runtime.0.observers {
            observer(event);
        }
        if let Some(EventSink(observer)) = self.base.extension() {
            observer(event);
        }
    }

    /// Returns whether an observer in this process receives the events of the run.
    fn is_shown(&self) -> bool {
        !self.runtime.0.observers.is_empty() || self.base.extension::<EventSink>().is_some()
    }

    /// Returns whether an observer receives the events of the run or a store keeps them.
    pub(super) fn is_observed(&self) -> bool {
        self.recorder.is_some() || self.is_shown()
    }

    /// Passes an event of the model on.
    pub(super) fn emit_of_model(&self, event: &ModelEvent<'_>) {
        let recorder = self.recorder.as_ref();
        if matches!(event, ModelEvent::Delta(_))
            && !recorder.is_some_and(|recorder| recorder.wants_pieces())
            && !self.is_shown()
        {
            return;
        }
        self.emit(match event {
            ModelEvent::Delta(Delta::Reasoning(delta)) => AgentEventKind::Reasoning {
                delta: delta.clone(),
            },
            ModelEvent::Delta(Delta::Text(delta)) => AgentEventKind::Text {
                delta: delta.clone(),
            },
            ModelEvent::Delta(Delta::Call { id, name }) => AgentEventKind::CallStarted {
                id: id.clone(),
                name: name.clone(),
            },
            ModelEvent::Delta(Delta::Arguments { id, text }) => AgentEventKind::CallArguments {
                id: id.clone(),
                delta: text.clone(),
            },
            ModelEvent::StepRestarted => AgentEventKind::StepRestarted,
            // Events about attempts are not part of the conversation.
            _ => return,
        });
    }

    pub(super) fn emit_result(&self, result: &ToolMessage) {
        self.emit(AgentEventKind::result(result));
    }

    pub(super) fn emit_message(&self, message: &ModelMessage) {
        self.emit(AgentEventKind::message(message));
    }

    /// Emits the end of a run.
    pub(super) fn emit_end(&self, outcome: &Result<Outcome, RuntimeError>) {
        if let Ok(Outcome::Waiting(tickets)) = outcome {
            self.emit(AgentEventKind::Waiting {
                approvals: tickets.iter().map(EventApproval::from).collect(),
            });
        }
        let (cause, error) = match outcome {
            Ok(outcome) => {
                let cause = outcome.cause();
                (cause.map_or("busy", |cause| cause.as_str()), None)
            }
            Err(error) => ("error", Some(error.to_string())),
        };
        self.emit(AgentEventKind::RunEnded {
            cause: cause.to_owned(),
            error,
        });
    }
}

/// The events of a run, and of the threads below it until the run has ended; created by [`AgentRuntime::stream`].
///
/// The run makes progress only while the stream is polled. Dropping the stream cancels the run.
#[must_use = "the run makes progress only while the stream is polled"]
pub struct AgentEvents {
    run: Option<BoxFuture<'static, Result<Outcome, RuntimeError>>>,
    waiting: Arc<Waiting>,
    outcome: Option<Result<Outcome, RuntimeError>>,
}

impl AgentEvents {
    /// Returns the outcome of the run, or `None` if the run has not ended or an earlier call has returned the outcome. The run ends before the stream
    /// has returned its last events.
    pub fn outcome(&mut self) -> Option<Result<Outcome, RuntimeError>> {
        self.outcome.take()
    }

    fn next_event(&self) -> Option<AgentEvent> {
        self.waiting.lock().as_mut()?.pop_front()
    }
}

/// The events that the stream has not returned yet; `None` after the stream has ended.
struct Waiting(Mutex<Option<VecDeque<AgentEvent>>>);

impl Waiting {
    fn lock(&self) -> MutexGuard<'_, Option<VecDeque<AgentEvent>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Stream for AgentEvents {
    type Item = AgentEvent;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<AgentEvent>> {
        loop {
            if let Some(event) = self.next_event() {
                return Poll::Ready(Some(event));
            }
            let Some(run) = &mut self.run else {
                // Sub-agents in the background continue, and their events are dropped.
                *self.waiting.lock() = None;
                return Poll::Ready(None);
            };
            match run.as_mut().poll(cx) {
                Poll::Ready(outcome) => {
                    self.run = None;
                    self.outcome = Some(outcome);
                }
                // The run may have emitted events during this poll.
                Poll::Pending => {
                    return match self.next_event() {
                        Some(event) => Poll::Ready(Some(event)),
                        None => Poll::Pending,
                    };
                }
            }
        }
    }
}

impl fmt::Debug for AgentEvents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentEvents")
            .field("is_running", &self.run.is_some())
            .finish_non_exhaustive()
    }
}

impl AgentRuntime {
    /// Stores a message of the user, drives the conversation as [`respond`](Self::respond) does, and returns the events of the run and of the threads
    /// below it. The stream ends after the run; [`AgentEvents::outcome`] then returns the outcome.
    ///
    /// Sub-agents in the background continue after the stream has ended. Observe the runtime to receive their events
    /// ([`AgentRuntimeBuilder::observe`](super::AgentRuntimeBuilder::observe)).
    ///
    /// ```
    /// use futures::StreamExt as _;
    /// use tool_agent::agent::Agent;
    /// use tool_agent::model::{Script, ScriptedModel};
    /// use tool_agent::runtime::{AgentEntry, AgentEventKind, AgentRuntime};
    /// use tool_core::store::MemoryStore;
    /// use tool_core::turn::Turns;
    /// use tool_core::{Gate, ToolContext};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let model = ScriptedModel::new([Script::text("Hello there.")]);
    /// let store = MemoryStore::default();
    /// let runtime = AgentRuntime::builder(Turns::new(store), &Gate::builder().build())
    ///     .agent(AgentEntry::new(Agent::builder("chief", model).build()?))
    ///     .build()?;
    /// let cx = ToolContext::builder().workspace("acme").conversation("main").build();
    /// let mut text = String::new();
    /// let mut events = runtime.stream("chief", "Hello.", &cx);
    /// while let Some(event) = events.next().await {
    ///     if let AgentEventKind::Text { delta } = event.kind {
    ///         text.push_str(&delta);
    ///     }
    /// }
    /// assert_eq!(text, "Hello there.");
    /// assert!(events.outcome().is_some_and(|outcome| outcome.is_ok()));
    /// # Ok(())
    /// # }
    /// ```
    pub fn stream(
        &self,
        agent: &str,
        message: impl Into<UserMessage>,
        cx: &ToolContext,
    ) -> AgentEvents {
        self.streamed(agent, Some(message.into()), cx)
    }

    /// Continues the conversation as [`drive`](Self::drive) does, and returns its events as [`stream`](Self::stream) does.
    pub fn stream_drive(&self, agent: &str, cx: &ToolContext) -> AgentEvents {
        self.streamed(agent, None, cx)
    }

    fn streamed(&self, agent: &str, message: Option<UserMessage>, cx: &ToolContext) -> AgentEvents {
        let waiting = Arc::new(Waiting(Mutex::new(Some(VecDeque::new()))));
        let events = Arc::downgrade(&waiting);
        let sink = EventSink(Arc::new(move |event: &AgentEvent| {
            // The stream may have been dropped.
            if let Some(events) = events.upgrade()
                && let Some(events) = &mut *events.lock()
            {
                events.push_back(event.clone());
            }
        }));
        let cx = cx.derive().with(sink).build();
        let (runtime, agent) = (self.clone(), agent.to_owned());
        let run = async move {
            match message {
                Some(message) => runtime.respond(&agent, message, &cx).await,
                None => runtime.drive(&agent, &cx).await,
            }
        };
        AgentEvents {
            run: Some(Box::pin(run)),
            waiting,
            outcome: None,
        }
    }
}
