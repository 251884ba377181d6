//! A runtime of agents that call each other: prompts and agents as tools, handoffs, and sub-agents in separate threads.
//!
//! An [`AgentRuntime`] has any number of agents. Each [`AgentEntry`] declares which agents its agent calls, and how:
//!
//! | tool | name | thread | result |
//! |---|---|---|---|
//! | [`PromptTool`] | the agent's name | the messages belong to the call | the text and the calls of the agent |
//! | [`Handoff`] | `transfer_to_<agent>` | the same thread, which the other agent continues | none |
//! | [`Subagent`] | the agent's name | a separate thread | the answer, or a reference if the call does not wait |
//! | [`Subagent::resumable`] | `subagent_create`, `subagent_message`, `subagents` | a separate thread for each instance | the answer of each session, or a reference |
//!
//! All state is in the stores: a call that is repeated after a crash continues the thread that its first attempt began. If a prompt or a sub-agent
//! waits for an approval or for a variable, the call that needs its answer waits, too.
//!
//! ```
//! use tool_agent::agent::Agent;
//! use tool_agent::model::{Script, ScriptedModel};
//! use tool_agent::runtime::{AgentEntry, AgentRuntime, Subagent};
//! use tool_core::store::MemoryStore;
//! use tool_core::turn::{Outcome, Turns};
//! use tool_core::{Gate, ToolCall, ToolContext};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let chief = ScriptedModel::new([
//!     Script::calls([ToolCall::new("c-1", "researcher", r#"{"message":"How deep is the fjord?"}"#)]),
//!     Script::text("It is 1,308 m deep."),
//! ]);
//! let researcher = ScriptedModel::new([Script::text("The maximum depth is 1,308 m.")]);
//!
//! let store = MemoryStore::default();
//! let runtime = AgentRuntime::builder(Turns::new(store.clone()), &Gate::builder().build())
//!     .children(store)
//!     .agent(AgentEntry::new(Agent::builder("chief", chief).build()?).subagent(Subagent::new("researcher")))
//!     .agent(AgentEntry::new(Agent::builder("researcher", researcher).build()?).autonomous().expose("Researches a question."))
//!     .build()?;
//!
//! let cx = ToolContext::builder().workspace("acme").conversation("main").user("ann").build();
//! let outcome = runtime.respond("chief", "How deep is the Sognefjord?", &cx).await?;
//! assert!(matches!(outcome, Outcome::Answered(text) if text == "It is 1,308 m deep."));
//! assert_eq!(runtime.children(&cx).await?[0].agent, "researcher");
//! # Ok(())
//! # }
//! ```

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use object_store::ObjectStore;
use tool_core::store::seal::Vault;
use tool_core::store::{
    ChildFilter, ChildRow, ChildStore, Message, Scope, ThreadEventStore, ThreadId, shield,
};
use tool_core::turn::{Outcome, TurnError, Turns, UserMessage};
use tool_core::variables::Declarations;
use tool_core::{Gate, Ticket, ToolContext, ToolError, Toolset};

use crate::files::ThreadFiles;
use crate::model::ModelObserver;

mod apart;
mod background;
mod barrier;
mod begun;
mod cancel;
mod check;
mod child;
mod entry;
mod error;
mod event;
mod follow;
mod immediate;
mod outcome;
mod parent;
mod prompt;
mod record;
mod result;
mod resumable;
mod run;
mod session;
mod spawn;
mod standing;
mod terminate;
mod tools;
mod ui;
mod variables;

use background::Background;
pub(crate) use background::Queued;
pub(crate) use barrier::Barrier;
use begun::Start;
pub use begun::{AgentBegun, BegunAgentRun};
pub use child::AgentArguments;
pub use entry::{
    AgentEntry, AgentKind, Handoff, Immediate, ParentCommunication, PromptTool, Resumable, Session,
    Side, Subagent,
};
pub use error::{RuntimeConfigError, RuntimeError};
use event::EventObserver;
pub use event::{AgentEvent, AgentEventKind, AgentEvents, EVENT_VERSION, EventApproval};
pub use follow::{EventCursor, EventReader, FollowedEvent, FollowedEvents, StoredEvents};
pub use parent::ParentThread;
use record::Recording;
pub use result::{AgentResult, ResultAttachment, ResultCall, ResultStatus};
use run::{Run, RunHandle, Speaker};
pub use spawn::SpawnGate;
pub use tools::ToolKind;
pub use ui::UiView;

/// Agents that call each other, and the stores of their threads. Clones share everything.
#[derive(Clone)]
#[doc(alias("orchestrator", "multi-agent", "subagents", "handoffs"))]
pub struct AgentRuntime(Arc<Inner>);

struct Inner {
    turns: Turns,
    gate: Gate,
    agents: Vec<Loaded>,
    names: HashMap<String, usize>,
    children: Option<Arc<dyn ChildStore>>,
    vault: Option<Vault>,
    files: Option<Arc<dyn ObjectStore>>,
    endpoint: String,
    background: Background,
    observers: Vec<Box<EventObserver>>,
    events: Option<Arc<dyn ThreadEventStore>>,
    /// A cache of the tools for resumable sub-agents.
    resumable: Mutex<HashMap<resumable::Offer, Toolset>>,
}

/// An agent with the tools that the runtime adds to its own.
struct Loaded {
    entry: AgentEntry,
    /// The prompt tools, the handoffs, and the sub-agents that are not resumable.
    tools: Toolset,
    /// The variables that the agent declares, and those of the agents that it calls, directly or through other agents. The variables of tools are not
    /// included.
    declared: Declarations,
}

/// Builder of an [`AgentRuntime`], created by [`AgentRuntime::builder`].
#[must_use]
pub struct AgentRuntimeBuilder {
    turns: Turns,
    gate: Gate,
    entries: Vec<AgentEntry>,
    children: Option<Arc<dyn ChildStore>>,
    vault: Option<Vault>,
    files: Option<Arc<dyn ObjectStore>>,
    observers: Vec<Box<EventObserver>>,
    events: Option<Arc<dyn ThreadEventStore>>,
    endpoint: String,
}

impl AgentRuntime {
    /// Creates a builder. All calls pass `gate`, except the calls of an agent whose tools have their own gate.
    pub fn builder(turns: Turns, gate: &Gate) -> AgentRuntimeBuilder {
        AgentRuntimeBuilder {
            turns,
            gate: gate.clone(),
            entries: Vec::new(),
            children: None,
            vault: None,
            files: None,
            observers: Vec::new(),
            events: None,
            endpoint: "/v1/threads/{thread}/variables/{request}".to_owned(),
        }
    }

    /// Stores a message of the user in the conversation of the context, and drives the conversation as [`drive`](Self::drive) does.
    ///
    /// `agent` is the agent of a new conversation. If the conversation was passed to another agent, that agent answers.
    ///
    /// # Errors
    ///
    /// Fails if the runtime has no such agent, if the conversation is the thread of a sub-agent or of a prompt, if a tool of the agent that answers
    /// has the name of a tool that the runtime adds, if a store fails, and in the same cases as [`Turns::respond`].
    pub async fn respond(
        &self,
        agent: &str,
        message: impl Into<UserMessage>,
        cx: &ToolContext,
    ) -> Result<Outcome, RuntimeError> {
        let run = self.top(agent, cx, true).await?;
        let start = Start::Message(message.into());
        self.driven(&run, start, None).await
    }

    /// Continues the conversation of the context, for example after an approval, after a crash, or to read the outcome of a sub-agent.
    ///
    /// Sub-agents of the conversation also continue, if their process died, if they waited for a person who has now answered, or if a wait that a
    /// provider requested has ended.
    ///
    /// # Errors
    ///
    /// Fails like [`respond`](Self::respond).
    pub async fn drive(&self, agent: &str, cx: &ToolContext) -> Result<Outcome, RuntimeError> {
        self.drive_with(agent, cx, None).await
    }

    /// Implements [`drive`](Self::drive). If there is a barrier, the run waits at it before each request.
    pub(crate) async fn drive_with(
        &self,
        agent: &str,
        cx: &ToolContext,
        barrier: Option<&Arc<Barrier>>,
    ) -> Result<Outcome, RuntimeError> {
        let run = self.top(agent, cx, false).await?;
        self.driven(&run, Start::Stored, barrier).await
    }

    /// Returns the agent that answers the next message in the conversation of the context, if `first` is the agent that began it.
    ///
    /// # Errors
    ///
    /// Fails if the runtime has no agent `first`, if the context has no conversation, and if the store fails.
    pub async fn active_agent(&self, first: &str, cx: &ToolContext) -> Result<&str, RuntimeError> {
        let first = self.known(first)?;
        let messages = self.0.turns.messages(cx, None).await?;
        let standing = self.standing(first, &messages);
        Ok(self.entry(standing.next).name())
    }

    /// Lists the child threads of the conversation of the context, ordered by conversation: sub-agents, and prompts that calls have run.
    ///
    /// # Errors
    ///
    /// Fails if the context has no conversation, and if the store fails.
    pub async fn children(&self, cx: &ToolContext) -> Result<Vec<ChildRow>, RuntimeError> {
        let thread = cx.thread().ok_or(TurnError::Unnamed)?;
        self.children_of(&thread).await
    }

    /// Returns the child threads below the conversation of the context, at every depth, the deepest first. A host that deletes the conversation
    /// must delete these threads too.
    ///
    /// # Errors
    ///
    /// Fails like [`children`](Self::children).
    pub async fn threads_below(&self, cx: &ToolContext) -> Result<Vec<ThreadId>, RuntimeError> {
        let mut threads = vec![cx.thread().ok_or(TurnError::Unnamed)?];
        let mut at = 0;
        while let Some(thread) = threads.get(at).cloned() {
            let rows = self.children_of(&thread).await?;
            threads.extend(rows.into_iter().map(|row| row.thread));
            at += 1;
        }
        threads.remove(0);
        threads.reverse();
        Ok(threads)
    }

    /// Returns the open approvals of the conversation of the context and of all threads below it. The list includes approvals of sub-agents in the
    /// background, which no [`Outcome`] contains.
    ///
    /// # Errors
    ///
    /// Fails if the context has no conversation, and if a store fails.
    pub async fn waiting(&self, cx: &ToolContext) -> Result<Vec<Ticket>, RuntimeError> {
        let own = cx.thread().ok_or(TurnError::Unnamed)?;
        let Some(approvals) = self.0.gate.approvals() else {
            return Ok(Vec::new());
        };
        let mut tickets = Vec::new();
        for thread in [own].into_iter().chain(self.threads_below(cx).await?) {
            let open = approvals.waiting(&thread).await;
            tickets.extend(open.map_err(ToolError::foreign)?);
        }
        Ok(tickets)
    }

    /// Returns the variables that an agent declares, and those of the agents that it calls, directly or through other agents. Each variable is listed
    /// once. The variables of tools are not included.
    ///
    /// # Errors
    ///
    /// Fails if the runtime has no such agent.
    pub fn variables(&self, agent: &str) -> Result<&Declarations, RuntimeError> {
        Ok(&self.0.agents[self.known(agent)?].declared)
    }

    /// Returns the tools of an agent in the conversation of a context, with their kinds, sorted by name. Resumable sub-agents are listed as if none
    /// was live.
    ///
    /// # Errors
    ///
    /// Fails if the runtime has no such agent, and if the context has no conversation.
    pub fn tools(
        &self,
        agent: &str,
        cx: &ToolContext,
    ) -> Result<Vec<(String, ToolKind)>, RuntimeError> {
        let agent = self.known(agent)?;
        let standing = self.standing(agent, &[]);
        let thread = cx.thread().ok_or(TurnError::Unnamed)?;
        let run = Run::new(
            self.clone(),
            cx.clone(),
            thread,
            None,
            None,
            agent,
            &standing,
        );
        let tools = self.toolset(agent, &run, cx, false);
        let tools = tools.unwrap_or_else(|collision| collision.resolved());
        let kinds = tools
            .tools()
            .map(|def| (def.name().to_owned(), ToolKind::of(def)));
        Ok(kinds.collect())
    }

    /// Waits until the runtime has no work in the background of this process: no session of a sub-agent, and no run that the answer of a sub-agent
    /// began.
    pub async fn idle(&self) {
        self.0.background.idle().await;
    }

    /// Returns whether the runtime has an agent of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.index(name).is_some()
    }

    /// Waits until no session of these threads runs in this process. Returns whether one of them ran.
    pub(crate) async fn wait_for_sessions(&self, threads: &[ThreadId]) -> bool {
        self.0.background.without(threads).await
    }

    /// Returns the shortest time after which a sub-agent of these threads may send its next request to a
    /// provider that requested a wait.
    pub(crate) fn rest_of(&self, threads: &[ThreadId]) -> Option<Duration> {
        let waits = threads
            .iter()
            .filter_map(|thread| self.0.background.rest(thread));
        waits.min()
    }

    fn index(&self, name: &str) -> Option<usize> {
        self.0.names.get(name).copied()
    }

    fn known(&self, name: &str) -> Result<usize, RuntimeError> {
        self.index(name).ok_or_else(|| RuntimeError::UnknownAgent {
            agent: name.to_owned(),
            known: check::listed(self.0.agents.iter().map(|loaded| loaded.entry.name())),
        })
    }

    fn entry(&self, agent: usize) -> &AgentEntry {
        &self.0.agents[agent].entry
    }

    /// Returns the store of child threads. `build` checks that a runtime has this store if an agent runs prompts or sub-agents.
    fn store(&self) -> Result<&Arc<dyn ChildStore>, ToolError> {
        let store = self.0.children.as_ref();
        store.ok_or_else(|| ToolError::unavailable("the store of child threads"))
    }

    async fn children_of(&self, thread: &ThreadId) -> Result<Vec<ChildRow>, RuntimeError> {
        let Some(store) = &self.0.children else {
            return Ok(Vec::new());
        };
        let filter = ChildFilter {
            parent: Some(thread.clone()),
            ..ChildFilter::default()
        };
        let scope = Scope::Workspace(thread.workspace());
        Ok(store.children(scope, &filter).await?)
    }

    fn files(&self, thread: &ThreadId) -> Option<ThreadFiles> {
        let store = self.0.files.as_ref()?;
        Some(ThreadFiles::new(Arc::clone(store), thread.clone()))
    }

    /// Prepares a run of the conversation of a context. `has_message` is whether a message of the user begins the run.
    async fn top(
        &self,
        agent: &str,
        cx: &ToolContext,
        has_message: bool,
    ) -> Result<Arc<Run>, RuntimeError> {
        let first = self.known(agent)?;
        let thread = self.own_thread(cx).await?;
        let messages = self.read_if_needed(first, cx).await?;
        let mut standing = self.standing(first, &messages);
        if has_message {
            standing.handoffs = 0;
        }
        let base = cx.derive().agent(self.entry(standing.next).name()).build();
        let run = Run::new(self.clone(), base, thread, None, None, first, &standing);
        let run = Arc::new(run);
        self.check_names(&run, standing.next)?;
        self.adopt(&run, &standing, &messages).await?;
        Ok(run)
    }

    /// Returns the thread of a context. Refuses the thread of a sub-agent or of a prompt, because its parent drives it.
    async fn own_thread(&self, cx: &ToolContext) -> Result<ThreadId, RuntimeError> {
        let thread = cx.thread().ok_or(TurnError::Unnamed)?;
        if tools::may_be_child(&thread)
            && let Some(store) = &self.0.children
            && store.child(&thread).await?.is_some()
        {
            return Err(RuntimeError::ChildThread(thread.conversation().to_owned()));
        }
        Ok(thread)
    }

    /// Reads the messages of a conversation if its first agent has handoffs or sub-agents, because these depend on the messages before the run;
    /// otherwise the list is empty.
    async fn read_if_needed(
        &self,
        agent: usize,
        cx: &ToolContext,
    ) -> Result<Vec<Message>, RuntimeError> {
        let entry = self.entry(agent);
        if entry.handoffs.is_empty() && entry.subagents.is_empty() {
            return Ok(Vec::new());
        }
        Ok(self.0.turns.messages(cx, None).await?)
    }

    /// Drives the thread of a child in a separate task, until the run ends or waits.
    async fn driven_apart(
        &self,
        run: &Arc<Run>,
    ) -> Result<Result<Outcome, RuntimeError>, ToolError> {
        let (runtime, run) = (self.clone(), Arc::clone(run));
        let driven = async move { runtime.driven(&run, Start::Stored, None).await };
        apart::apart(Box::pin(driven)).await
    }

    /// Drives the thread of a run until the run ends or waits. If there is a barrier, the run waits at it before each request.
    async fn driven(
        &self,
        run: &Arc<Run>,
        start: Start<'_>,
        barrier: Option<&Arc<Barrier>>,
    ) -> Result<Outcome, RuntimeError> {
        let mut cx = run.base.derive().with(RunHandle(Arc::clone(run)));
        if let Some(files) = self.files(&run.home) {
            cx = cx.with(files);
        }
        let mut turns = self.entry(run.current()).agent.limited(&self.0.turns);
        if run.is_observed() {
            let [of_model, of_results, of_progress] = [(); 3].map(|()| Arc::clone(run));
            let of_context = run.base.extension::<ModelObserver>();
            cx = cx.with(ModelObserver::new(move |event| {
                if let Some(observer) = &of_context {
                    observer.call(event);
                }
                of_model.emit_of_model(event);
            }));
            turns = turns
                .observe(move |result| of_results.emit_result(result))
                .progress(move |call, step| {
                    of_progress.emit(AgentEventKind::Progress {
                        id: call.id.clone(),
                        name: call.name.clone(),
                        step: serde_json::from_str(step.get()).unwrap_or_default(),
                    });
                });
        }
        let cx = cx.build();
        let recording = run.recorder.clone();
        let recording = recording.map(|recorder| Recording::new(recorder, run));
        if let Some(recording) = &recording {
            turns = recording.of(turns);
        }
        run.emit(AgentEventKind::RunStarted);
        let mut model = Speaker::new(Arc::clone(run), barrier.cloned());
        let tools = |cx: &ToolContext| run.tools(cx);
        let drive = async {
            match start {
                Start::Stored => turns.drive(&mut model, tools, &cx).await,
                Start::Message(message) => turns.respond(message, &mut model, tools, &cx).await,
                Start::Begun(begun, supplied) => {
                    let begun = begun.settings(|_| turns).context(&cx)?;
                    begun.drive(&mut model, tools, supplied).await
                }
            }
        };
        let outcome = match &run.recorder {
            Some(recorder) => recorder.during(drive).await,
            None => drive.await,
        };
        let outcome = outcome.map_err(RuntimeError::from);
        if matches!(outcome, Ok(Outcome::Cancelled)) {
            self.cancel_below(run).await?;
        }
        run.emit_end(&outcome);
        if let Some(recording) = recording {
            recording.end().await;
        }
        outcome
    }

    /// Refuses a tool of an agent that has the name of a tool of the runtime.
    fn check_names(&self, run: &Arc<Run>, agent: usize) -> Result<(), RuntimeError> {
        match self.toolset(agent, run, &run.base, true) {
            Ok(_) => Ok(()),
            Err(collision) => Err(RuntimeError::NameTaken {
                agent: self.entry(agent).name().to_owned(),
                tool: collision.name,
            }),
        }
    }
}

impl fmt::Debug for AgentRuntime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.0.agents.iter().map(|loaded| loaded.entry.name());
        f.debug_struct("AgentRuntime")
            .field("agents", &names.collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}

impl AgentRuntimeBuilder {
    /// Adds an agent to the runtime.
    pub fn agent(mut self, entry: AgentEntry) -> Self {
        self.entries.push(entry);
        self
    }

    /// Sets the store of child threads. It must be in the same database as the threads: one transaction writes the row of a child with its first
    /// messages, and one writes the row with its outcome. Agents that run prompts or sub-agents need this store.
    pub fn children(self, store: impl ChildStore) -> Self {
        self.children_shared(Arc::new(store))
    }

    /// Sets the store of child threads, which other code may share.
    pub fn children_shared(mut self, store: Arc<dyn ChildStore>) -> Self {
        self.children = Some(store);
        self
    }

    /// Sets the vault with the variables of threads. Agents with scoped variables, and sub-agents that start for each group of variables
    /// ([`Immediate::per_instance`]), need it.
    pub fn vault(mut self, vault: &Vault) -> Self {
        self.vault = Some(vault.clone());
        self
    }

    /// Sets the object store for the files of all threads. The tools of an agent read and write them with [`ThreadFiles`].
    pub fn files(mut self, store: Arc<dyn ObjectStore>) -> Self {
        self.files = Some(store);
        self
    }

    /// Adds a function that receives the events of all conversations, including sub-agents in the background. The tasks of the runs call the
    /// function, so it must not block.
    pub fn observe(mut self, observer: impl Fn(&AgentEvent) + Send + Sync + 'static) -> Self {
        self.observers.push(Box::new(observer));
        self
    }

    /// Stores the events of all conversations, so that other processes can follow the runs. The store must be in the database of the threads and the
    /// runs.
    ///
    /// Messages of the model and results of calls are messages of the thread, and are not stored twice. The other events are rows of the store: the
    /// beginning and the end of a run, handoffs, children and open approvals. The pieces and the progress of the running step are stored in batches,
    /// one every 250 milliseconds and about 1 MiB at most for each step, and are removed when the step has ended. A step that takes less time usually
    /// writes no row.
    ///
    /// If the store fails, the run continues, and readers miss events.
    pub fn events(self, store: impl ThreadEventStore) -> Self {
        self.events_shared(Arc::new(store))
    }

    /// Sets the [store of events](Self::events), which other code may share.
    pub fn events_shared(mut self, store: Arc<dyn ThreadEventStore>) -> Self {
        self.events = Some(store);
        self
    }

    /// Sets the path at which a user supplies the variables of a sub-agent, with `{thread}` and `{request}` in place of the conversation and the
    /// request. The default is the path of the admin API of `tool-server`.
    pub fn variables_endpoint(mut self, path: impl Into<String>) -> Self {
        self.endpoint = path.into();
        self
    }

    /// Checks the configuration of the agents, and creates the runtime.
    ///
    /// # Errors
    ///
    /// Fails with a [`RuntimeConfigError`], for example if two agents have the same name, if an agent calls an agent that does not exist, is not
    /// exposed or is of the wrong kind, if settings of an agent contradict each other, and if the runtime lacks a part that an agent needs.
    pub fn build(self) -> Result<AgentRuntime, RuntimeConfigError> {
        check::check(&self)?;
        let names: HashMap<String, usize> = self
            .entries
            .iter()
            .enumerate()
            .map(|(at, entry)| (entry.name().to_owned(), at))
            .collect();
        let declared = variables::declarations(&self.entries, &names)?;
        let tools = tools::of_entries(&self.entries, &names)?;
        let agents = self.entries.into_iter().zip(tools).zip(declared);
        let agents = agents.map(|((entry, tools), declared)| Loaded {
            entry,
            tools,
            declared,
        });
        Ok(AgentRuntime(Arc::new(Inner {
            turns: self.turns,
            gate: self.gate,
            agents: agents.collect(),
            names,
            children: self.children,
            vault: self.vault,
            files: self.files,
            endpoint: self.endpoint,
            background: Background::default(),
            observers: self.observers,
            events: self.events.map(shield::thread_events),
            resumable: Mutex::default(),
        })))
    }
}

impl fmt::Debug for AgentRuntimeBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentRuntimeBuilder")
            .field("agents", &self.entries)
            .finish_non_exhaustive()
    }
}
