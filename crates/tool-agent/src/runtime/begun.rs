//! A run of agents that begins before anything is stored, so that a busy conversation refuses a request as a whole.

use std::fmt;
use std::sync::Arc;

use tool_core::store::RunId;
use tool_core::turn::{Begun, BegunRun, ClientResult, Outcome, TurnError, Turns, UserMessage};
use tool_core::{ToolCall, ToolContext, Toolset};

use super::AgentRuntime;
use super::error::RuntimeError;
use super::event::{AgentEvent, EventSink};
use super::run::Run;

/// The result of [`AgentRuntime::begin`].
#[derive(Debug)]
pub enum AgentBegun {
    /// The run has begun, and this process has its lease.
    Run(Box<BegunAgentRun>),
    /// A different run of the conversation has not ended. Nothing was stored.
    Busy(RunId),
}

/// A run of agents that has begun and has not sent a request yet; created by [`AgentRuntime::begin`]. This process has the lease of the run.
///
/// No other drive of the conversation begins while the lease is valid. [`drive`](Self::drive) continues the run; if this value is dropped instead,
/// the run ends as cancelled. The lease is renewed only while the run is driven, so begin the drive within the length of a [lease](Turns::lease).
#[must_use = "drive the run, or cancel it"]
pub struct BegunAgentRun {
    runtime: AgentRuntime,
    /// The agent that began the conversation.
    first: String,
    cx: ToolContext,
    run: BegunRun,
    has_message: bool,
}

/// How a run starts.
pub(super) enum Start<'a> {
    /// No new message: the run answers the stored messages.
    Stored,
    /// A message that is stored when the run begins.
    Message(UserMessage),
    /// A run that was begun before, and the results of the client for its open calls.
    Begun(Box<BegunRun>, &'a [ClientResult]),
}

impl AgentRuntime {
    /// Begins a run of the conversation of a context, before a message is stored. [`respond`](Self::respond) stores its message even if a different
    /// run is active; a host that refuses messages while a run is active begins the run first. [`Turns::begin`] does the same without agents.
    ///
    /// `agent` is the agent of a new conversation. If the conversation was passed to another agent, that agent answers.
    ///
    /// ```
    /// use tool_agent::agent::Agent;
    /// use tool_agent::model::{Script, ScriptedModel};
    /// use tool_agent::runtime::{AgentBegun, AgentEntry, AgentRuntime};
    /// use tool_core::store::MemoryStore;
    /// use tool_core::turn::{Outcome, Turns};
    /// use tool_core::{Gate, ToolContext};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let model = ScriptedModel::new([Script::text("Hello there.")]);
    /// let runtime = AgentRuntime::builder(Turns::new(MemoryStore::default()), &Gate::builder().build())
    ///     .agent(AgentEntry::new(Agent::builder("chief", model).build()?))
    ///     .build()?;
    /// let cx = ToolContext::builder().workspace("acme").conversation("main").build();
    /// let AgentBegun::Run(mut run) = runtime.begin("chief", &cx).await? else { unreachable!() };
    /// assert!(matches!(runtime.begin("chief", &cx).await?, AgentBegun::Busy(_)));
    ///
    /// run.say("Hello.").await?;
    /// let outcome = run.observe(|event| println!("{}", event.kind.name())).drive(&[]).await?;
    /// assert!(matches!(outcome, Outcome::Answered(text) if text == "Hello there."));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Fails if the runtime has no such agent, if the context has no conversation, if the conversation is the thread of a sub-agent or of a prompt,
    /// and if a store fails.
    pub async fn begin(&self, agent: &str, cx: &ToolContext) -> Result<AgentBegun, RuntimeError> {
        let first = self.known(agent)?;
        self.own_thread(cx).await?;
        let messages = self.read_if_needed(first, cx).await?;
        let active = self.standing(first, &messages).next;
        let of_run = cx.derive().agent(self.entry(active).name()).build();
        Ok(match self.0.turns.begin(&of_run).await? {
            Begun::Run(run) => AgentBegun::Run(Box::new(BegunAgentRun {
                runtime: self.clone(),
                first: agent.to_owned(),
                cx: cx.clone(),
                run: *run,
                has_message: false,
            })),
            Begun::Busy(id) => AgentBegun::Busy(id),
        })
    }

    /// Returns the loop of the runtime, to read, list and cancel runs. Drive conversations with the runtime.
    pub fn turns(&self) -> &Turns {
        &self.0.turns
    }

    /// Returns the tools of all agents for a context, with the gate of the runtime. Interfaces use them to show calls and to answer approvals. If
    /// several agents have different tools with the same name, the result contains the tool of the first of these agents.
    ///
    /// # Errors
    ///
    /// Fails if the context has no conversation.
    pub fn all_tools(&self, cx: &ToolContext) -> Result<Toolset, RuntimeError> {
        let thread = cx.thread().ok_or(TurnError::Unnamed)?;
        let mut all = tool_core::toolset![].through(&self.0.gate);
        for agent in 0..self.0.agents.len() {
            let standing = self.standing(agent, &[]);
            let (base, thread) = (cx.clone(), thread.clone());
            let run = Run::new(self.clone(), base, thread, None, None, agent, &standing);
            let tools = self.toolset(agent, &run, cx, true);
            let tools = tools.unwrap_or_else(|collision| collision.resolved());
            let tools = tools.filter(|def| all.get(def.name()).is_none());
            // Both toolsets have the same gate and, after the filter, no common name, so combining them does not fail.
            let both = all.clone().combine(&tools.through(&self.0.gate));
            all = both.unwrap_or(all);
        }
        Ok(all)
    }
}

impl BegunAgentRun {
    /// Returns the id of the run.
    pub fn id(&self) -> &RunId {
        self.run.id()
    }

    /// Stores a message of the user, like [`BegunRun::say`], and returns its sequence number.
    ///
    /// # Errors
    ///
    /// Fails if the message is invalid, and if the store fails.
    pub async fn say(&mut self, message: impl Into<UserMessage>) -> Result<u64, RuntimeError> {
        let seq = self.run.say(message).await?;
        self.has_message = true;
        Ok(seq)
    }

    /// Returns whether the last message of the user is answered, like [`BegunRun::is_answered`].
    ///
    /// # Errors
    ///
    /// Fails if the store fails.
    pub async fn is_answered(&self) -> Result<bool, RuntimeError> {
        Ok(self.run.is_answered().await?)
    }

    /// Returns the calls of the last message of the model that have no result yet, like [`BegunRun::open_calls`].
    ///
    /// # Errors
    ///
    /// Fails if the store fails.
    pub async fn open_calls(&self) -> Result<Vec<ToolCall>, RuntimeError> {
        Ok(self.run.open_calls().await?)
    }

    /// Sets the function that receives the events of the run and of the threads below it. It is called in the task of the run, so it must not block.
    pub fn observe(mut self, observer: impl Fn(&AgentEvent) + Send + Sync + 'static) -> Self {
        let sink = EventSink(Arc::new(observer));
        self.cx = self.cx.derive().with(sink).build();
        self
    }

    /// Drives the run, as [`AgentRuntime::drive`] does. `supplied` are results of the client for open calls of client tools; results for other calls
    /// are ignored.
    ///
    /// # Errors
    ///
    /// Fails like [`AgentRuntime::respond`].
    pub async fn drive(self, supplied: &[ClientResult]) -> Result<Outcome, RuntimeError> {
        // The preparations may take longer than a lease, because they may ask a model for the description of a sub-agent.
        let top = self.runtime.top(&self.first, &self.cx, self.has_message);
        let run = match self.run.during(top).await {
            Ok(run) => run,
            Err(error) => {
                self.run.cancel().await;
                return Err(error);
            }
        };
        let start = Start::Begun(Box::new(self.run), supplied);
        self.runtime.driven(&run, start, None).await
    }

    /// Ends the run as cancelled, without a request to a model.
    pub async fn cancel(self) {
        self.run.cancel().await;
    }
}

impl fmt::Debug for BegunAgentRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BegunAgentRun")
            .field("id", self.id())
            .field("first", &self.first)
            .finish_non_exhaustive()
    }
}
