//! Run records: the driver of a thread, and how each run ended.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Journal, Scope, StoreFuture, ThreadId, Timestamp, Usage, Workspace, words};
use crate::env;

/// The id of a run: its thread and its number in the thread. The store assigns the numbers, which increase by 1 and are never reused.
///
/// ```
/// use tool_store::{RunId, ThreadId};
///
/// let run = RunId::new(ThreadId::new("acme", "main")?, 3);
/// assert_eq!(run.to_string(), "run 3 of thread `main` of workspace `acme`");
/// # Ok::<(), tool_store::StoreError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId {
    thread: ThreadId,
    number: u64,
}

impl RunId {
    /// Creates the id of a run from its thread and its number in it. Take the workspace of the thread from the session, not from the request: the
    /// workspace isolates tenants from each other.
    pub fn new(thread: ThreadId, number: u64) -> Self {
        Self { thread, number }
    }

    /// Returns the thread of the run.
    pub fn thread(&self) -> &ThreadId {
        &self.thread
    }

    /// Returns the workspace of the thread.
    pub fn workspace(&self) -> &Workspace {
        self.thread.workspace()
    }

    /// Returns the number of the run in the thread; the first is 1.
    pub fn number(&self) -> u64 {
        self.number
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "run {} of thread {}", self.number, self.thread)
    }
}

/// Whether a run continues or has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// The run continues, or the process of its driver died: see [`RunRow::is_held`].
    Running,
    /// The run has ended. Its row contains the cause.
    Ended,
}

words!(RunState { Running = "running", Ended = "ended", });

/// The cause of the end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RunCause {
    /// The model, or a tool in its place, answered the user.
    Replied,
    /// The model's response reached its token limit.
    Length,
    /// The provider withheld the model's response.
    Filtered,
    /// A guardrail of the host ended the run.
    Guardrail,
    /// Calls wait for a person or for the client, or the provider of a model or a tool requested a wait.
    Waiting,
    /// The calls need variables that the user has not supplied.
    Lacking,
    /// The outcome of an earlier call is unknown and must be settled first.
    Unsettled,
    /// The run was cancelled, the future that drove it was dropped, an operator ended it by force, or its thread or its user was erased.
    Cancelled,
    /// A new message of the user arrived, and the next run answers it.
    Interrupted,
    /// The deadline of the run's context passed.
    Deadline,
    /// The run reached its limit of steps.
    Steps,
    /// The run reached its limit of tokens or of cost.
    Budget,
    /// The runs since the last message of the user reached their limit on time.
    Time,
    /// The budget that the run shares with other runs had too little left for the next request.
    SharedBudget,
    /// The host was shutting down.
    Draining,
    /// The run failed, for example because the model or a store failed, or because the model's message was incomplete.
    Failed,
    /// The processes that drove the run died too often: see [`WorkStore::claim_work`](super::WorkStore::claim_work).
    CrashLimit,
    /// All calls of the message have their results. Only runs of `tool_core::turn::Turns::run` end with this cause.
    Complete,
}

words!(RunCause {
    Replied = "replied",
    Length = "length",
    Filtered = "filtered",
    Guardrail = "guardrail",
    Waiting = "waiting",
    Lacking = "lacking",
    Unsettled = "unsettled",
    Cancelled = "cancelled",
    Interrupted = "interrupted",
    Deadline = "deadline",
    Steps = "steps",
    Budget = "budget",
    Time = "time",
    SharedBudget = "shared_budget",
    Draining = "draining",
    Failed = "failed",
    CrashLimit = "crash_limit",
    Complete = "complete",
});

/// A request to stop a run. The driver of the run checks for such a request before each step, and when it renews its lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunStop {
    /// The run ends after the calls that have begun, and the next run reads the new message of the user.
    Interrupt,
    /// The run ends, and the work in progress is cancelled.
    Cancel,
}

words!(RunStop { Interrupt = "interrupt", Cancel = "cancel", });

/// The data of a new run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewRun {
    /// The thread of the run.
    pub thread: ThreadId,
    /// The requesting user, if the context contains a user.
    pub principal: Option<String>,
    /// The agent, if the context contains an agent.
    pub agent: Option<String>,
    /// The random, unique name of the driver.
    pub owner: String,
    /// When the run begins.
    pub at: Timestamp,
    /// When the lease expires and a different driver may take the run over.
    pub lease_until: Timestamp,
}

/// The steps and tokens that a run has used so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunProgress {
    /// The number of model requests that returned a message.
    pub steps: u32,
    /// The tokens of these requests, and the reported tokens of requests that failed or were interrupted.
    pub usage: Usage,
    /// The number of requests in [`steps`](Self::steps) whose response did not report its usage, so that [`usage`](Self::usage) does not contain
    /// their tokens.
    pub unmeasured: u32,
}

/// How and when a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunEnd {
    /// The cause of the end.
    pub cause: RunCause,
    /// When the run ended.
    pub at: Timestamp,
    /// The steps and tokens that the run used.
    pub progress: RunProgress,
}

/// A run as it is stored.
///
/// Its methods include the state transitions of a row, for authors of a store: read the row, apply the step and write the row back, in one
/// transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunRow {
    /// The id of the run.
    pub id: RunId,
    /// The requesting user; `None` if the context contained no user.
    pub principal: Option<String>,
    /// The agent that acts for the user.
    pub agent: Option<String>,
    /// The random name of the driver.
    pub owner: String,
    /// When the lease expires and a different driver may take the run over.
    pub lease_until: Timestamp,
    /// Whether the run continues.
    pub state: RunState,
    /// Why the run ended; `None` while it continues.
    pub cause: Option<RunCause>,
    /// The request to stop the run; `None` if no stop was requested.
    pub stop: Option<RunStop>,
    /// When the run began.
    pub started: Timestamp,
    /// When the run ended; `None` while it continues.
    pub ended: Option<Timestamp>,
    /// The number of drivers so far: more than 1 if a driver took the run over after the lease of an earlier driver had expired.
    pub attempt: u32,
    /// The steps and tokens that the run has used. Until the driver ends the run, these are the values at the last renewal of the lease.
    pub progress: RunProgress,
}

/// The result of [`RunStore::begin_run`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunBegun {
    /// The caller drives this run.
    Begun(Box<RunRow>),
    /// A different driver holds the lease of this run, so nothing was changed.
    Busy(Box<RunRow>),
}

/// A filter for runs: a run must match every field that is set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunFilter {
    /// Only runs of this conversation.
    pub conversation: Option<String>,
    /// Only runs in this state.
    pub state: Option<RunState>,
    /// The cursor: only runs after it in the order of the list. It is [`RunRow::cursor`] of the last row of the previous page.
    pub after: Option<RunCursor>,
    /// The maximum number of rows.
    pub limit: Option<u32>,
}

/// The sort key of runs in lists, which are in descending order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunCursor {
    /// When the run began.
    pub started: Timestamp,
    /// The id of the run.
    pub id: RunId,
}

impl RunRow {
    /// Applies [`RunStore::begin_run`] to the `running` row of the thread, or to `None`. `number` is the next number of the thread.
    /// Returns the result and the rows to store.
    ///
    /// A run whose lease has expired keeps its number when the new driver takes it over. If a stop was requested, the run ends instead, and a new run
    /// begins. A driver that begins again under the same owner receives its own run, so that it can repeat a request whose response was lost.
    pub fn begin(running: Option<Self>, new: NewRun, number: u64) -> (RunBegun, Vec<Self>) {
        let mut rows = Vec::new();
        if let Some(mut row) = running {
            if row.owner == new.owner {
                return (RunBegun::Begun(Box::new(row)), rows);
            }
            if row.is_held(new.at) {
                return (RunBegun::Busy(Box::new(row)), rows);
            }
            let Some(stop) = row.stop else {
                row.principal = new.principal;
                row.agent = new.agent;
                row.owner = new.owner;
                row.lease_until = new.lease_until;
                row.attempt += 1;
                rows.push(row.clone());
                return (RunBegun::Begun(Box::new(row)), rows);
            };
            row.state = RunState::Ended;
            row.ended = Some(new.at);
            row.cause = Some(match stop {
                RunStop::Cancel => RunCause::Cancelled,
                RunStop::Interrupt => RunCause::Interrupted,
            });
            rows.push(row);
        }
        let row = Self {
            id: RunId::new(new.thread, number),
            principal: new.principal,
            agent: new.agent,
            owner: new.owner,
            lease_until: new.lease_until,
            state: RunState::Running,
            cause: None,
            stop: None,
            started: new.at,
            ended: None,
            attempt: 1,
            progress: RunProgress::default(),
        };
        rows.push(row.clone());
        (RunBegun::Begun(Box::new(row)), rows)
    }

    /// Applies [`RunStore::renew_run`]. Returns false, and changes nothing, if the run has ended or belongs to a different owner.
    pub fn renew(&mut self, owner: &str, until: Timestamp, progress: RunProgress) -> bool {
        let renews = self.state == RunState::Running && self.owner == owner;
        if renews {
            self.lease_until = until.max(self.lease_until);
            self.progress = progress;
        }
        renews
    }

    /// Applies [`RunStore::end_run`]. Returns false, and changes nothing, if the run has ended already or belongs to a different owner.
    pub fn end(&mut self, owner: &str, end: RunEnd) -> bool {
        let ends = self.state == RunState::Running && self.owner == owner;
        if ends {
            self.state = RunState::Ended;
            self.cause = Some(end.cause);
            self.ended = Some(end.at);
            self.progress = end.progress;
        }
        ends
    }

    /// Ends the run for the erasure of its thread or of its user ([`Maintenance::erase_contents`](super::Maintenance::erase_contents)). The run gets
    /// a new owner, so that its driver writes no more messages. A run that has ended is not changed.
    pub fn erase(&mut self, at: Timestamp) {
        if self.state == RunState::Running {
            self.state = RunState::Ended;
            self.cause = Some(RunCause::Cancelled);
            self.ended = Some(at);
            self.owner = env::token();
        }
    }

    /// Applies [`RunStore::stop_run`]. Returns whether the row changed: a run that has ended is not changed, and a cancellation is not
    /// weakened to an interruption.
    pub fn stop(&mut self, stop: RunStop) -> bool {
        let stops = self.state == RunState::Running && self.stop < Some(stop);
        if stops {
            self.stop = Some(stop);
        }
        stops
    }

    /// Returns whether a driver holds the lease at this time. If not, the process of a `running` run counts as dead, and the next driver of the
    /// thread takes the run over.
    pub fn is_held(&self, now: Timestamp) -> bool {
        self.state == RunState::Running && now < self.lease_until
    }

    /// Returns the position of the row in lists.
    pub fn cursor(&self) -> RunCursor {
        RunCursor {
            started: self.started,
            id: self.id.clone(),
        }
    }
}

impl RunFilter {
    /// Returns whether a row is in the scope and matches the filter. The caller applies `limit`.
    pub fn covers(&self, scope: Scope<'_>, row: &RunRow) -> bool {
        let thread = row.id.thread();
        let conversation = self.conversation.as_deref();
        scope.covers(thread.workspace())
            && conversation.is_none_or(|wanted| wanted == thread.conversation())
            && self.state.is_none_or(|wanted| wanted == row.state)
            && self.after.as_ref().is_none_or(|last| row.cursor() < *last)
    }
}

/// A store of runs: at most one run of each thread is `running`.
///
/// ```
/// use std::time::Duration;
/// use tool_store::*;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), StoreError> {
/// let (store, now) = (MemoryStore::default(), Timestamp::now());
/// let new = |owner: &str, at: Timestamp| NewRun {
///     thread: ThreadId::new("acme", "main").unwrap(), principal: Some("ann".into()), agent: None, owner: owner.into(), at,
///     lease_until: at.plus(Duration::from_secs(30)),
/// };
/// let RunBegun::Begun(run) = RunStore::begin_run(&store, new("one", now)).await? else { unreachable!() };
/// assert_eq!(run.id.number(), 1);
/// assert!(matches!(RunStore::begin_run(&store, new("other", now)).await?, RunBegun::Busy(_)));
///
/// let end = RunEnd { cause: RunCause::Replied, at: now, progress: RunProgress::default() };
/// assert!(RunStore::end_run(&store, &run.id, "one", end).await?);
/// let acme = Workspace::new("acme");
/// let rows = RunStore::list_runs(&store, Scope::Workspace(&acme), &RunFilter::default()).await?;
/// assert_eq!(rows[0].cause, Some(RunCause::Replied));
/// # Ok(())
/// # }
/// ```
pub trait RunStore: Send + Sync + 'static {
    /// Returns the transactions of the database that this store belongs to; `None` if each of its changes is a separate transaction.
    fn journal(&self) -> Option<Journal> {
        None
    }

    /// Begins a run of a thread, or takes over the run whose lease has expired, by the rules of [`RunRow::begin`].
    fn begin_run(&self, run: NewRun) -> StoreFuture<'_, RunBegun>;

    /// Extends the lease of a run, and stores its progress. Returns the stored row, or `None` if the run is unknown, has ended or belongs to a
    /// different owner.
    fn renew_run<'a>(
        &'a self,
        id: &'a RunId,
        owner: &'a str,
        until: Timestamp,
        progress: RunProgress,
    ) -> StoreFuture<'a, Option<RunRow>>;

    /// Ends a run. Returns false, and changes nothing, if the run is unknown, has ended or belongs to a different owner.
    fn end_run<'a>(&'a self, id: &'a RunId, owner: &'a str, end: RunEnd) -> StoreFuture<'a, bool>;

    /// Requests that the driver of a run stops. Returns the row, or `None` for an unknown run. A run that has ended is returned unchanged.
    fn stop_run<'a>(&'a self, id: &'a RunId, stop: RunStop) -> StoreFuture<'a, Option<RunRow>>;

    /// Returns a run, or `None` if the id is unknown.
    fn get_run<'a>(&'a self, id: &'a RunId) -> StoreFuture<'a, Option<RunRow>>;

    /// Returns the runs of a scope that match the filter, in descending order of their [`cursor`](RunRow::cursor): the newest first.
    fn list_runs<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a RunFilter,
    ) -> StoreFuture<'a, Vec<RunRow>>;

    /// Removes runs that ended before `since`, and returns their number.
    fn retain_runs<'a>(&'a self, scope: Scope<'a>, since: Timestamp) -> StoreFuture<'a, u64>;
}
