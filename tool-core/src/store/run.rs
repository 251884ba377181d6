//! Runs: rows that say who drives a thread, and how each run ended.

use std::fmt;
use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

use super::{Journal, Scope, StoreFuture, ThreadId, Timestamp, Workspace, words};

/// The id of a run: its thread and its number there. The store assigns numbers; they grow by 1, and none is given twice.
///
/// ```
/// use tool_core::store::{RunId, ThreadId};
///
/// let run = RunId::new(ThreadId::new("acme", "main")?, 3);
/// assert_eq!(run.to_string(), "run 3 of thread `main` of workspace `acme`");
/// # Ok::<(), tool_core::store::StoreError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId {
    thread: ThreadId,
    number: u64,
}

impl RunId {
    /// The id of a run by its number in a thread. Take the workspace of the thread from the session, not from the request: it is what
    /// keeps tenants apart.
    pub fn new(thread: ThreadId, number: u64) -> Self {
        Self { thread, number }
    }

    /// The thread.
    pub fn thread(&self) -> &ThreadId {
        &self.thread
    }

    /// The workspace of the thread.
    pub fn workspace(&self) -> &Workspace {
        self.thread.workspace()
    }

    /// The number in the thread; the first is 1.
    pub fn number(&self) -> u64 {
        self.number
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "run {} of thread {}", self.number, self.thread)
    }
}

/// Whether a run goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// It goes on, or its process died: see [`RunRow::is_held`].
    Running,
    /// It ended, for the cause in its row.
    Ended,
}

words!(RunState { Running = "running", Ended = "ended", });

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RunCause {
    /// The model, or a tool in its place, answered the user.
    Replied,
    /// The model's answer reached its limit of tokens.
    Length,
    /// The provider withheld the model's answer.
    Filtered,
    /// Calls wait for an approval.
    Waiting,
    /// Calls need variables.
    Lacking,
    /// The outcome of an earlier call has to be settled first.
    Unsettled,
    /// It was cancelled, the future that drove it was dropped, or its driver was given up.
    Cancelled,
    /// A message of the user arrived, which another run answers.
    Interrupted,
    /// The deadline of its context passed.
    Deadline,
    /// It took all its steps.
    Steps,
    /// It used all its tokens.
    Budget,
    /// The host was shutting down.
    Draining,
    /// The model or a store failed.
    Failed,
    /// All calls of the one message have their results. Only runs of [`Turns::run`](crate::turn::Turns::run) end so.
    Complete,
}

words!(RunCause {
    Replied = "replied",
    Length = "length",
    Filtered = "filtered",
    Waiting = "waiting",
    Lacking = "lacking",
    Unsettled = "unsettled",
    Cancelled = "cancelled",
    Interrupted = "interrupted",
    Deadline = "deadline",
    Steps = "steps",
    Budget = "budget",
    Draining = "draining",
    Failed = "failed",
    Complete = "complete",
});

/// A request to stop a run, which its driver obeys before its next step and whenever it renews its lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunStop {
    /// End after the calls that have begun; the next run reads the new message of the user.
    Interrupt,
    /// End, and cancel what is under way.
    Cancel,
}

words!(RunStop { Interrupt = "interrupt", Cancel = "cancel", });

/// Tokens that model requests used.
///
/// ```
/// use tool_core::store::Usage;
///
/// let mut usage = Usage { input_tokens: 100, output_tokens: 20, cached_tokens: 80 };
/// usage += usage;
/// assert_eq!(usage.total_tokens(), 240);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of the input, those that were read from a cache included.
    #[serde(default)]
    pub input_tokens: u64,
    /// Tokens of the output, reasoning included.
    #[serde(default)]
    pub output_tokens: u64,
    /// Tokens of the input that were read from a cache.
    #[serde(default)]
    pub cached_tokens: u64,
}

impl Usage {
    /// Tokens of input and output.
    pub fn total_tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, more: Self) {
        let sum = u64::saturating_add;
        self.input_tokens = sum(self.input_tokens, more.input_tokens);
        self.output_tokens = sum(self.output_tokens, more.output_tokens);
        self.cached_tokens = sum(self.cached_tokens, more.cached_tokens);
    }
}

/// A run to begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewRun {
    /// The thread.
    pub thread: ThreadId,
    /// The user for whom it runs, where the context names one.
    pub principal: Option<String>,
    /// The agent, where the context names one.
    pub agent: Option<String>,
    /// A random name of whoever drives it, made anew for each drive.
    pub owner: String,
    /// When.
    pub at: Timestamp,
    /// When another driver may take it over.
    pub lease_until: Timestamp,
}

/// What a run has used so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunProgress {
    /// Model requests.
    pub steps: u32,
    /// Their tokens.
    pub usage: Usage,
}

/// The end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunEnd {
    /// Why.
    pub cause: RunCause,
    /// When.
    pub at: Timestamp,
    /// What it used.
    pub progress: RunProgress,
}

/// A run as it is stored.
///
/// Its methods are the steps that a row can take, for whoever writes a store: read the row, let it take the step and write it back, in
/// one transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunRow {
    /// The id.
    pub id: RunId,
    /// The user for whom it runs.
    pub principal: Option<String>,
    /// The agent.
    pub agent: Option<String>,
    /// The random name of its driver.
    pub owner: String,
    /// When another driver may take it over.
    pub lease_until: Timestamp,
    /// Whether it goes on.
    pub state: RunState,
    /// Why it ended.
    pub cause: Option<RunCause>,
    /// The request to stop it.
    pub stop: Option<RunStop>,
    /// When it began.
    pub started: Timestamp,
    /// When it ended.
    pub ended: Option<Timestamp>,
    /// How many drivers it has had: more than 1 where the process of an earlier one died.
    pub attempt: u32,
    /// What it used. While it runs, as of the last renewal of its lease.
    pub progress: RunProgress,
}

/// The answer to [`RunStore::begin_run`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunBegun {
    /// The caller drives this run.
    Begun(Box<RunRow>),
    /// Another driver holds the lease of this run, so nothing was changed.
    Busy(Box<RunRow>),
}

/// Narrows a list of runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunFilter {
    /// Only those of this conversation.
    pub conversation: Option<String>,
    /// Only those in this state.
    pub state: Option<RunState>,
    /// Only those that come after this one in the order of the list: the [`cursor`](RunRow::cursor) of the last row of a page.
    pub after: Option<RunCursor>,
    /// At most this many.
    pub limit: Option<u32>,
}

/// The position of a run in lists, which are sorted by it in descending order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunCursor {
    /// When the run began.
    pub started: Timestamp,
    /// The run.
    pub id: RunId,
}

impl RunRow {
    /// A step of [`RunStore::begin_run`]: takes the row of the thread that is `running`, if there is one, and the next number of the thread.
    /// Returns the answer and the rows to store.
    ///
    /// A run whose lease lapsed is taken over under its own number, unless somebody asked for it to stop: then it ends, and a new run
    /// begins. A driver that begins again under the same owner gets its own run, so that an answer that was lost can be asked for again.
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

    /// A step of [`RunStore::renew_run`]. Returns whether the run goes on and is this owner's.
    pub fn renew(&mut self, owner: &str, until: Timestamp, progress: RunProgress) -> bool {
        let renews = self.state == RunState::Running && self.owner == owner;
        if renews {
            self.lease_until = until.max(self.lease_until);
            self.progress = progress;
        }
        renews
    }

    /// A step of [`RunStore::end_run`]. Returns whether the run went on and was this owner's.
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

    /// A step of [`RunStore::stop_run`]. Returns whether the row changed: a run that ended stays as it is, and a cancellation is not
    /// weakened to an interruption.
    pub fn stop(&mut self, stop: RunStop) -> bool {
        let stops = self.state == RunState::Running && self.stop < Some(stop);
        if stops {
            self.stop = Some(stop);
        }
        stops
    }

    /// Whether a driver holds the run at this time. One that is `running` and not held was left by a process that died; the next drive
    /// of its thread takes it over.
    pub fn is_held(&self, now: Timestamp) -> bool {
        self.state == RunState::Running && now < self.lease_until
    }

    /// The position of the row in lists.
    pub fn cursor(&self) -> RunCursor {
        RunCursor {
            started: self.started,
            id: self.id.clone(),
        }
    }
}

impl RunFilter {
    /// Whether a row is of the scope and passes the filter, its limit aside.
    pub fn covers(&self, scope: Scope<'_>, row: &RunRow) -> bool {
        let thread = row.id.thread();
        let conversation = self.conversation.as_deref();
        scope.covers(thread.workspace())
            && conversation.is_none_or(|wanted| wanted == thread.conversation())
            && self.state.is_none_or(|wanted| wanted == row.state)
            && self.after.as_ref().is_none_or(|last| row.cursor() < *last)
    }
}

/// Keeps runs: at most one of each thread is `running`.
///
/// ```
/// use std::time::Duration;
/// use tool_core::store::*;
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
    /// The transactions of the database that this store is a part of; `None` where each of its changes is a transaction of its own.
    fn journal(&self) -> Option<Journal> {
        None
    }

    /// Begins a run of a thread, or takes over the one whose lease lapsed: [`RunRow::begin`].
    fn begin_run(&self, run: NewRun) -> StoreFuture<'_, RunBegun>;

    /// Extends the lease. Returns the row as it is stored now, or `None` where the owner does not hold the run any more.
    fn renew_run<'a>(
        &'a self,
        id: &'a RunId,
        owner: &'a str,
        until: Timestamp,
        progress: RunProgress,
    ) -> StoreFuture<'a, Option<RunRow>>;

    /// Ends a run. Returns false, and changes nothing, where the owner does not hold it any more.
    fn end_run<'a>(&'a self, id: &'a RunId, owner: &'a str, end: RunEnd) -> StoreFuture<'a, bool>;

    /// Asks the driver of a run to stop. Returns the row, or `None` for an unknown run. A run that ended is returned as it is.
    fn stop_run<'a>(&'a self, id: &'a RunId, stop: RunStop) -> StoreFuture<'a, Option<RunRow>>;

    /// One run.
    fn get_run<'a>(&'a self, id: &'a RunId) -> StoreFuture<'a, Option<RunRow>>;

    /// The runs of a scope that pass a filter, by their [`cursor`](RunRow::cursor) in descending order: the newest first.
    fn list_runs<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a RunFilter,
    ) -> StoreFuture<'a, Vec<RunRow>>;

    /// Removes runs that ended before a point in time, and returns how many there were.
    fn retain_runs<'a>(&'a self, scope: Scope<'a>, since: Timestamp) -> StoreFuture<'a, u64>;
}
