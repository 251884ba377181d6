//! One run of an agent in a thread: the agent that is active, its tools, and its model.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::future::{BoxFuture, FutureExt as _};
use tool_core::store::{ChildKind, ChildRow, Message, Role, ThreadId, Usage};
use tool_core::turn::{Model, ModelMessage, ModelRequest, StepBudget, ToolMessage, TurnError};
use tool_core::{Effect, ErrorKind, FromContext, Rules, ToolContext, ToolError, Toolset};

use super::AgentRuntime;
use super::barrier::Barrier;
use super::child::unavailable;
use super::entry::Session;
use super::event::AgentEventKind;
use super::record::Recorder;
use crate::agent::Instructed;

/// Maximum number of handoffs after one message of the user.
pub(super) const MOST_HANDOFFS: u32 = 5;

/// The data of a run that the tools of the runtime read.
pub(super) struct Run {
    pub(super) runtime: AgentRuntime,
    /// The context of the turn, without the handle of this run.
    pub(super) base: ToolContext,
    pub(super) thread: ThreadId,
    /// The thread whose files the tools of the run use: the thread of the run, or the thread that called a prompt.
    pub(super) home: ThreadId,
    /// The number of sub-agents from the conversation to this run, its own agent included; 0 for the conversation itself.
    pub(super) depth: u32,
    /// The agent that began the thread.
    pub(super) first: usize,
    /// The row of the thread, if it is the thread of a sub-agent or of a prompt.
    pub(super) row: Option<ChildRow>,
    /// The lists of allowed and denied tools of the agents above this one.
    pub(super) above: Option<Rules>,
    /// Whether the run belongs to a sub-agent, or to a prompt below one.
    pub(super) is_below: bool,
    /// The agents that run this one as a prompt. Their spawn gates apply, too.
    pub(super) prompted_by: Vec<usize>,
    /// Stores the events of the run, if the runtime has a store for them.
    pub(super) recorder: Option<Arc<Recorder>>,
    state: Mutex<State>,
}

struct State {
    /// The agent whose calls run.
    current: usize,
    /// The agent that gets the next request.
    next: usize,
    handoffs: u32,
    /// Whether the thread has calls of an earlier run without results.
    has_open: bool,
    /// Whether an instance of a resumable sub-agent is live.
    live: bool,
}

/// The agents of a thread, as its messages determine them.
pub(super) struct Standing {
    /// The agent that wrote the last message of the model.
    pub(super) current: usize,
    /// The agent that writes the next message.
    pub(super) next: usize,
    /// The number of handoffs since the last message of the user.
    pub(super) handoffs: u32,
    /// The number of the message with the last handoff; 0 if there was none.
    pub(super) activation: u64,
    /// Whether the last message of the model has calls without results.
    pub(super) has_open: bool,
    /// Whether the active agent has written a message.
    pub(super) has_spoken: bool,
}

impl Run {
    pub(super) fn new(
        runtime: AgentRuntime,
        base: ToolContext,
        thread: ThreadId,
        row: Option<ChildRow>,
        above: Option<Rules>,
        first: usize,
        standing: &Standing,
    ) -> Self {
        let events = runtime.0.events.as_ref();
        let recorder = events.map(|store| Arc::new(Recorder::new(store, &thread)));
        Self {
            runtime,
            recorder,
            first,
            base,
            home: thread.clone(),
            depth: row.as_ref().map_or(0, |row| row.depth),
            is_below: row
                .as_ref()
                .is_some_and(|row| row.kind == ChildKind::Subagent),
            prompted_by: Vec::new(),
            thread,
            row,
            above,
            state: Mutex::new(State {
                current: standing.current,
                next: standing.next,
                handoffs: standing.handoffs,
                has_open: standing.has_open,
                live: false,
            }),
        }
    }

    /// Copies a run with a different context.
    pub(super) fn copy(other: &Self, base: ToolContext) -> Self {
        let current = other.state().current;
        Self::copy_for(other, base, current)
    }

    /// Copies a run with a different context and a different active agent.
    pub(super) fn copy_for(other: &Self, base: ToolContext, current: usize) -> Self {
        let standing = {
            let state = other.state();
            Standing {
                current,
                next: current,
                handoffs: state.handoffs,
                activation: 0,
                has_open: false,
                has_spoken: true,
            }
        };
        let (row, above) = (other.row.clone(), other.above.clone());
        let runtime = other.runtime.clone();
        let thread = other.thread.clone();
        let mut copy = Self::new(runtime, base, thread, row, above, other.first, &standing);
        copy.recorder.clone_from(&other.recorder);
        copy.home = other.home.clone();
        copy.depth = other.depth;
        copy.is_below = other.is_below;
        copy.prompted_by.clone_from(&other.prompted_by);
        copy
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the agent whose calls run.
    pub(super) fn current(&self) -> usize {
        self.state().current
    }

    /// Passes the conversation to an agent. Fails if another call of the same message has done so, or if the limit is reached.
    pub(super) fn hand_off(&self, target: usize) -> Result<(), ToolError> {
        let mut state = self.state();
        if state.next != state.current {
            return Err(ToolError::new(
                "ignored: another handoff of the same message was made before this one",
            ));
        }
        if state.handoffs >= MOST_HANDOFFS {
            return Err(ToolError::new(format!(
                "the conversation was passed on {MOST_HANDOFFS} times since the last message of the user: answer the user"
            )));
        }
        state.handoffs += 1;
        state.next = target;
        drop(state);
        let to = self.runtime.entry(target).name().to_owned();
        self.emit(AgentEventKind::Handoff { to });
        Ok(())
    }

    /// Makes the next agent the current one. Returns the agent, and whether it differs from the previous one.
    fn take_over(&self) -> (usize, bool) {
        let mut state = self.state();
        let is_new = state.current != state.next;
        state.current = state.next;
        (state.current, is_new)
    }

    pub(super) fn set_live(&self, live: bool) {
        self.state().live = live;
    }

    /// Returns the agent that gets the next step, and whether the thread has live instances of resumable sub-agents.
    fn step(&self) -> (usize, bool) {
        let mut state = self.state();
        // The first step of a run continues the calls of the agent that made them, even if one of them has passed the conversation on.
        let agent = if std::mem::take(&mut state.has_open) {
            state.current
        } else {
            state.next
        };
        (agent, state.live)
    }

    /// Returns the tools of the next step.
    pub(super) fn tools(&self, cx: &ToolContext) -> Toolset {
        let (agent, live) = self.step();
        let name = self.runtime.entry(agent).name();
        match self.runtime.toolset(agent, self, cx, live) {
            Ok(tools) => tools.called_by(name),
            // `AgentRuntime` has checked the names before the run. If a function later returns tools with names of the runtime, these tools are
            // hidden.
            Err(collision) => {
                tracing::error!(
                    tool = collision.name,
                    "a tool of an agent has the name of a tool of the runtime and is hidden"
                );
                collision.resolved().called_by(name)
            }
        }
    }

    /// Checks that the thread of a child has its first message, which was stored together with the row of the child.
    fn check_begin(&self, messages: &[Message]) -> Result<(), ToolError> {
        let begins = self.row.as_ref().map(|row| row.begins);
        if begins.is_none_or(|begins| messages.iter().any(|message| message.seq <= begins)) {
            return Ok(());
        }
        Err(unavailable(
            "the first message of the agent is not in its thread: pass the store of the turns to `AgentRuntimeBuilder::children`",
        ))
    }

    /// Reads the row of the sub-agent to which the run belongs; `None` for other runs. Fails if the sub-agent was terminated.
    async fn live_row(&self) -> Result<Option<ChildRow>, ToolError> {
        let row = self.row.as_ref();
        let Some(row) = row.filter(|row| row.kind == ChildKind::Subagent) else {
            return Ok(None);
        };
        let row = self.runtime.store()?.child(&row.thread).await;
        match row.map_err(unavailable)? {
            Some(row) if row.is_live() => Ok(Some(row)),
            _ => Err(ToolError::of(
                ErrorKind::Cancelled,
                "the agent was terminated",
            )),
        }
    }

    /// Returns the lists of allowed and denied tools of an agent and of the agents above it.
    pub(super) fn rules(&self, agent: usize) -> Rules {
        let own = self.runtime.entry(agent).rules.clone();
        match &self.above {
            Some(above) => own.for_sub_agent(above),
            None => own,
        }
    }
}

/// The run of a context, for the tools of the runtime.
#[derive(Clone)]
pub(super) struct RunHandle(pub(super) Arc<Run>);

impl FromContext for RunHandle {
    const EFFECT: Effect = Effect::NONE;

    fn from_context(cx: &ToolContext) -> Result<Self, ToolError> {
        cx.extension()
            .ok_or_else(|| ToolError::unavailable("the runtime of the agents"))
    }
}

impl fmt::Debug for RunHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RunHandle").field(&self.0.thread).finish()
    }
}

/// The model of a run: the model of the active agent, with its instructions and guardrails.
pub(super) struct Speaker {
    run: Arc<Run>,
    barrier: Option<Arc<Barrier>>,
    asked: Option<(usize, Instructed)>,
}

impl Speaker {
    pub(super) fn new(run: Arc<Run>, barrier: Option<Arc<Barrier>>) -> Self {
        Self {
            run,
            barrier,
            asked: None,
        }
    }

    fn model(&mut self, agent: usize, cx: &ToolContext) -> Result<&mut Instructed, ToolError> {
        let asked = match self.asked.take() {
            Some((of, model)) if of == agent => model,
            _ => match self.run.runtime.entry(agent).agent.instructed(cx) {
                Ok(model) => model,
                Err(TurnError::Model(error)) => return Err(error),
                Err(error) => return Err(ToolError::foreign(error)),
            },
        };
        Ok(&mut self.asked.insert((agent, asked)).1)
    }
}

impl Model for Speaker {
    fn next<'a>(
        &'a mut self,
        request: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelMessage, ToolError>> {
        let (agent, is_new) = self.run.take_over();
        async move {
            if let Some(barrier) = &self.barrier {
                barrier.wait(last_of_model(request.messages)).await;
            }
            let run = Arc::clone(&self.run);
            run.check_begin(request.messages)?;
            if let Some(row) = run.live_row().await? {
                let session = &run.runtime.entry(agent).session;
                if let Some(end) = ended_by(session, request.messages, row.begins) {
                    // The text of the tool is stored as the last message, and no request is sent.
                    if let Ok(budget) = request.cx.get::<StepBudget>() {
                        budget.unsent();
                    }
                    return Ok(ModelMessage::text(end.text));
                }
            }
            let subagents = &run.runtime.entry(agent).subagents;
            if is_new && subagents.iter().any(|tool| tool.immediate.is_some()) {
                run.runtime.activate(&run, request.messages).await?;
            }
            run.emit(AgentEventKind::StepStarted { step: request.step });
            let message = self.model(agent, request.cx)?.next(request).await?;
            run.emit_message(&message);
            run.store_events().await;
            Ok(message)
        }
        .boxed()
    }

    fn interrupted(&mut self) -> Option<ModelMessage> {
        self.asked.as_mut()?.1.interrupted()
    }

    fn unmeasured_requests(&mut self) -> u32 {
        let asked = self.asked.as_mut();
        asked.map_or(0, |(_, model)| model.unmeasured_requests())
    }

    fn estimate(&mut self, request: &ModelRequest<'_>, output: u64) -> Usage {
        let next = self.run.state().next;
        match self.model(next, request.cx) {
            Ok(model) => model.estimate(request, output),
            // The request itself fails with the same error.
            Err(_) => Usage::default(),
        }
    }

    fn unsettled_usage(&mut self) -> Option<Usage> {
        self.asked.as_mut()?.1.unsettled_usage()
    }
}

/// Returns the sequence number of the last message of the model; 0 if there is none.
fn last_of_model(messages: &[Message]) -> u64 {
    let mut messages = messages.iter().rev();
    let last = messages.find(|message| message.role == Role::Assistant);
    last.map_or(0, |message| message.seq)
}

/// The call of a tool that ended a session.
pub(super) struct EndedBy {
    pub(super) failed: bool,
    pub(super) text: String,
    pub(super) message: ToolMessage,
}

/// Returns the first successful call of a tool that ends the session. `begins` is the sequence number of the first message of the session.
pub(super) fn ended_by(session: &Session, messages: &[Message], begins: u64) -> Option<EndedBy> {
    if session.stop.is_none() && session.fail.is_none() {
        return None;
    }
    let results = messages
        .iter()
        .filter(|message| message.seq > begins && message.role == Role::Tool);
    results
        .filter_map(|message| serde_json::from_str::<ToolMessage>(&message.content).ok())
        .find_map(|result| {
            let is = |tool: &Option<String>| tool.as_deref() == Some(&*result.name);
            let (stops, fails) = (is(&session.stop), is(&session.fail));
            (!result.is_error() && (stops || fails)).then(|| EndedBy {
                failed: fails,
                text: result.text.clone(),
                message: result,
            })
        })
}
