//! Plans: drafts that are compiled to graphs of tasks, their runs, and the results of their nodes.

use std::fmt;

use super::{StoreError, StoreFuture, ThreadId, Timestamp, Workspace};

mod change;
mod compile;
mod draft;
mod state;
mod step;

pub use change::{PlanChange, PlanOutcome, PlanRefusal, PlanSubmission};
pub use compile::{PlanIssue, PlanRules, PlanSeverity, PlanSpec};
pub use draft::{
    PlanCondition, PlanDeliverable, PlanDraft, PlanEdge, PlanExecutor, PlanNode, PlanNodeKind,
    PlanOwner, PlanSchema,
};
pub use state::{
    PlanAnswer, PlanApproval, PlanArtifact, PlanAttempt, PlanAttemptStatus, PlanCheckpoint,
    PlanEvent, PlanEventKind, PlanNodeRun, PlanNodeStatus, PlanStatus,
};
use step::Step;

/// The id of a run of a plan: its conversation and its number in the conversation. The store assigns the numbers, which increase by 1 and are never
/// reused.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PlanRunId {
    thread: ThreadId,
    number: u64,
}

impl PlanRunId {
    /// Creates the id of a run from its conversation and its number in it. Take the workspace of the thread from the session, not from the request:
    /// the workspace isolates tenants from each other.
    pub fn new(thread: ThreadId, number: u64) -> Self {
        Self { thread, number }
    }

    /// Returns the conversation of the run.
    pub fn thread(&self) -> &ThreadId {
        &self.thread
    }

    /// Returns the workspace of the conversation.
    pub fn workspace(&self) -> &Workspace {
        self.thread.workspace()
    }

    /// Returns the number of the run in the conversation; the first is 1. It is also the version of the plan.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Returns the error of a run that does not exist.
    pub fn missing(&self) -> StoreError {
        StoreError::Missing(format!(
            "there is no {self}: use the number of a run of this conversation"
        ))
    }
}

impl fmt::Display for PlanRunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "plan run {} of thread {}", self.number, self.thread)
    }
}

/// A run to create.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewPlanRun {
    /// The conversation of the new run.
    pub thread: ThreadId,
    /// The user for whom the plan is run; `None` if the context has none.
    pub principal: Option<String>,
    /// The compiled plan to run.
    pub spec: PlanSpec,
    /// When the run is created.
    pub at: Timestamp,
}

/// The part of a run that changes, in its stored form.
#[cfg(any(feature = "sqlite", feature = "postgres"))]
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct PlanState {
    nodes: Vec<PlanNodeRun>,
    approval: Option<PlanApproval>,
    checkpoint: PlanCheckpoint,
    reason: Option<String>,
}

/// A run of a plan as it is stored.
///
/// Its methods include the state transitions of a row, for authors of a store: read the row, apply the change and write the row and the events back,
/// in one transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlanRow {
    /// The id of the run.
    pub id: PlanRunId,
    /// The compiled plan, which never changes.
    pub spec: PlanSpec,
    /// The user for whom the plan is run.
    pub principal: Option<String>,
    /// The status of the run.
    pub status: PlanStatus,
    /// The number of the run that this run replaced.
    pub replaces: Option<u64>,
    /// The number of the run that replaced this run.
    pub replaced_by: Option<u64>,
    /// Why this run replaced a different run.
    pub reason: Option<String>,
    /// The approval of the plan; `None` if the plan needs none.
    pub approval: Option<PlanApproval>,
    /// The runs of the nodes, in the order of the draft.
    pub nodes: Vec<PlanNodeRun>,
    /// The latest checkpoint of the run.
    pub checkpoint: PlanCheckpoint,
    /// The number of events of the run.
    pub events: u64,
    /// When the run was created.
    pub created: Timestamp,
    /// When the run was last changed.
    pub updated: Timestamp,
}

impl PlanRow {
    /// Creates a run. Returns it with its first events.
    pub fn create(number: u64, new: NewPlanRun) -> (Self, Vec<PlanEvent>) {
        let at = new.at;
        let mut row = Self::before_first_step(number, new);
        let mut step = Step::new(&mut row, at);
        step.log(PlanEventKind::Created, None);
        let events = step.end();
        (row, events)
    }

    /// Returns the row of a run whose nodes are all pending and that has no events.
    pub(crate) fn before_first_step(number: u64, new: NewPlanRun) -> Self {
        let NewPlanRun {
            thread,
            principal,
            spec,
            at,
        } = new;
        let approval = spec
            .needs_approval()
            .then_some(PlanApproval { answer: None });
        Self {
            id: PlanRunId::new(thread, number),
            nodes: spec.statuses().into_iter().map(PlanNodeRun::new).collect(),
            spec,
            principal,
            status: PlanStatus::Running,
            replaces: None,
            replaced_by: None,
            reason: None,
            approval,
            checkpoint: PlanCheckpoint::default(),
            events: 0,
            created: at,
            updated: at,
        }
    }

    /// Ends this run, which `next` replaces for a reason, and links the two runs. Returns the events of this run.
    pub fn replace(&mut self, next: &mut Self, reason: String) -> Vec<PlanEvent> {
        next.replaces = Some(self.id.number);
        next.reason = Some(reason);
        self.replaced_by = Some(next.id.number);
        let mut step = Step::new(self, next.created);
        step.log(PlanEventKind::Replaced, None);
        step.stop(PlanStatus::Aborted);
        step.finish()
    }

    /// Returns the ids of the nodes with a status.
    pub fn nodes_with(&self, status: PlanNodeStatus) -> impl Iterator<Item = &str> {
        let nodes = self.spec.draft().nodes.iter().zip(&self.nodes);
        let nodes = nodes.filter(move |(_, run)| run.status == status);
        nodes.map(|(node, _)| node.id.as_str())
    }

    /// Returns the run of a node.
    pub fn node(&self, id: &str) -> Option<&PlanNodeRun> {
        let (place, _) = self.spec.node(id)?;
        self.nodes.get(place)
    }

    #[cfg(any(feature = "sqlite", feature = "postgres"))]
    pub(crate) fn state(&self) -> PlanState {
        PlanState {
            nodes: self.nodes.clone(),
            approval: self.approval.clone(),
            checkpoint: self.checkpoint,
            reason: self.reason.clone(),
        }
    }

    /// Sets the state of a row that a store has read. Fails if the state has a different number of nodes than the plan.
    #[cfg(any(feature = "sqlite", feature = "postgres"))]
    pub(crate) fn restore(&mut self, state: PlanState) -> Result<(), String> {
        if state.nodes.len() != self.nodes.len() {
            return Err(format!(
                "it has {} nodes, and the plan has {}",
                state.nodes.len(),
                self.nodes.len()
            ));
        }
        (self.nodes, self.approval) = (state.nodes, state.approval);
        (self.checkpoint, self.reason) = (state.checkpoint, state.reason);
        Ok(())
    }
}

/// The result of [`PlanStore::create_plan`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanCreated {
    /// The run was created and is the active run.
    Created(Box<PlanRow>),
    /// The conversation has an active run. Nothing was changed.
    Active(Box<PlanRow>),
}

/// The result of [`PlanStore::change_plan`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanChanged {
    /// The change was made, or there was nothing to change. A faulty result of a node is a change: it is stored as a failed attempt.
    Changed(Box<PlanRow>),
    /// The change was refused. Nothing was changed.
    Refused(PlanRefusal, Box<PlanRow>),
}

/// Selects runs of plans for a list. Fields that are `None` do not narrow the list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanFilter {
    /// Only runs of this conversation.
    pub conversation: Option<String>,
    /// Only runs for this user.
    pub principal: Option<String>,
    /// Only runs with this status.
    pub status: Option<PlanStatus>,
    /// The cursor: only runs after it. It consists of the conversation and the number of the last run of the previous page.
    pub after: Option<(String, u64)>,
    /// The maximum number of rows.
    pub limit: Option<u32>,
}

impl PlanFilter {
    /// Returns whether the filter admits a run. The caller applies `limit`.
    pub fn admits(&self, row: &PlanRow) -> bool {
        let conversation = row.id.thread.conversation();
        let (wanted, user) = (self.conversation.as_deref(), self.principal.as_deref());
        let is_after = self
            .after
            .as_ref()
            .is_none_or(|(last, number)| (conversation, row.id.number) > (last.as_str(), *number));
        wanted.is_none_or(|wanted| wanted == conversation)
            && user.is_none_or(|user| row.principal.as_deref() == Some(user))
            && self.status.is_none_or(|status| row.status == status)
            && is_after
    }
}

/// A store of plans and their runs.
///
/// A conversation has at most one active run. Every change is one transaction, so a run continues from its latest checkpoint after the death of a
/// process, and completed nodes are not run again.
///
/// ```
/// use tool_store::*;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let draft: PlanDraft = serde_json::from_value(serde_json::json!({
///     "title": "Report", "objective": "Write the report",
///     "nodes": [{"id": "write", "owner": {"executor": "agent"}, "objective": "Write it", "success_criteria": ["it is complete"]}],
///     "entry_nodes": ["write"],
/// }))?;
/// let spec = PlanSpec::compile(draft, &PlanRules::default(), |_| Ok(())).unwrap();
/// let (store, at) = (MemoryStore::default(), Timestamp::now());
/// let thread = ThreadId::new("acme", "main")?;
/// let new = NewPlanRun { thread: thread.clone(), principal: None, spec, at };
/// let PlanCreated::Created(run) = store.create_plan(new).await? else { panic!("there is an active run") };
/// assert_eq!(run.nodes_with(PlanNodeStatus::Ready).collect::<Vec<_>>(), ["write"]);
///
/// let result = PlanSubmission {
///     node: "write".into(), attempt: None, by: PlanOwner::new(PlanExecutor::Agent, "writer"), outcome: PlanOutcome::Completed,
///     output: None, schema_issues: Vec::new(), artifacts: Vec::new(), notes: None,
/// };
/// let PlanChanged::Changed(run) = store.change_plan(&run.id, PlanChange::Submit(result), at).await? else { panic!("refused") };
/// assert_eq!(run.status, PlanStatus::Completed);
/// assert_eq!(store.active_plan(&thread).await?, None);
/// # Ok(())
/// # }
/// ```
#[doc(alias("workflow", "dag", "task graph"))]
pub trait PlanStore: Send + Sync + 'static {
    /// Creates the active run of a conversation, unless the conversation has one.
    fn create_plan(&self, new: NewPlanRun) -> StoreFuture<'_, PlanCreated>;

    /// Replaces the active run of a conversation with a new run, for a reason: the old run is aborted, and the two runs are linked. A reader sees the
    /// old or the new run as the active run, and never none or both. Returns the new run; if the conversation has no active run, changes nothing and
    /// returns `None`.
    fn replace_plan(&self, new: NewPlanRun, reason: String) -> StoreFuture<'_, Option<PlanRow>>;

    /// Applies a change to a run, by the rules of [`PlanRow::apply`]. Fails with `Missing` if the run does not exist.
    fn change_plan<'a>(
        &'a self,
        id: &'a PlanRunId,
        change: PlanChange,
        at: Timestamp,
    ) -> StoreFuture<'a, PlanChanged>;

    /// Returns a run; `None` if it does not exist.
    fn plan<'a>(&'a self, id: &'a PlanRunId) -> StoreFuture<'a, Option<PlanRow>>;

    /// Returns the active run of a conversation; `None` if it has none.
    fn active_plan<'a>(&'a self, thread: &'a ThreadId) -> StoreFuture<'a, Option<PlanRow>>;

    /// Lists the runs of a conversation, the newest first, at most `limit`. `before` is the cursor: the number of the last run of the previous page.
    fn list_plans<'a>(
        &'a self,
        thread: &'a ThreadId,
        before: Option<u64>,
        limit: u32,
    ) -> StoreFuture<'a, Vec<PlanRow>>;

    /// Lists the runs of a workspace, ordered by conversation and number.
    fn find_plans<'a>(
        &'a self,
        workspace: &'a Workspace,
        filter: &'a PlanFilter,
    ) -> StoreFuture<'a, Vec<PlanRow>>;

    /// Lists the events of a run, in order, at most `limit`. `after` is the cursor: the sequence number of the last event of the previous page, or 0.
    fn plan_events<'a>(
        &'a self,
        id: &'a PlanRunId,
        after: u64,
        limit: u32,
    ) -> StoreFuture<'a, Vec<PlanEvent>>;
}
