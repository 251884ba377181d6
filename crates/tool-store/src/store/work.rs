//! The queue of threads that workers drive.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{NewMessage, Scope, StoreError, StoreFuture, ThreadId, Timestamp, Workspace, words};
use crate::env;

/// The state of a thread in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum WorkState {
    /// A worker may claim the thread when it is [ready](WorkRow::ready).
    Queued,
    /// A worker drives the thread, or its process died.
    Claimed,
    /// The thread waits, for example for an approval. [`WorkStore::wake_work`] or [`WorkStore::queue_work`] queues it again.
    Waiting,
    /// The thread has left the queue. The row contains the cause.
    Ended,
}

words!(WorkState {
    Queued = "queued",
    Claimed = "claimed",
    Waiting = "waiting",
    Ended = "ended",
});

/// Why a thread left the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum WorkCause {
    /// The run of the thread ended.
    Done,
    /// The run failed, and is not tried again.
    Failed,
    /// The lease of the thread expired more often than [`WorkClaim::most_recoveries`] allows, so the run probably crashes the processes that drive
    /// it.
    CrashLimit,
}

words!(WorkCause {
    Done = "done",
    Failed = "failed",
    CrashLimit = "crash_limit",
});

/// An agent and the version of its definition. A worker claims only threads whose agent and definition it has.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorkAgent {
    /// The name of the agent.
    pub agent: String,
    /// The version of the definition, such as a number or a short hash.
    pub definition: String,
}

impl WorkAgent {
    /// Creates the pair of an agent and its definition.
    pub fn new(agent: impl Into<String>, definition: impl Into<String>) -> Self {
        Self {
            agent: agent.into(),
            definition: definition.into(),
        }
    }
}

/// The number of recoveries after which a thread is a suspect.
pub(crate) const SUSPECT: u32 = 2;

/// A thread to queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewWork {
    /// The thread that is queued.
    pub thread: ThreadId,
    /// The agent that drives the thread, and its definition.
    pub agent: WorkAgent,
    /// The user for whom the thread is driven.
    pub principal: Option<String>,
    /// Facts about the caller as JSON, from which the worker builds the context of the run. They are stored in clear text, also by a store that seals
    /// messages.
    pub facts: Option<String>,
    /// The time until the thread is ready.
    pub delay: Duration,
    /// When the thread is queued.
    pub at: Timestamp,
}

/// A thread in the queue.
///
/// Its methods include the state transitions of a row, for authors of a store: read the row, apply the step and write the row back, in one
/// transaction.
///
/// The times are measured by the clock that decides about leases, which is the database's clock in a `PostgresStore`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkRow {
    /// The thread that is queued.
    pub thread: ThreadId,
    /// The agent that drives the thread, and its definition.
    pub agent: WorkAgent,
    /// The user for whom the thread is driven.
    pub principal: Option<String>,
    /// Facts about the caller as JSON.
    pub facts: Option<String>,
    /// The state of the thread in the queue.
    pub state: WorkState,
    /// Why the thread left the queue; `None` unless the state is [`Ended`](WorkState::Ended).
    pub cause: Option<WorkCause>,
    /// When a worker may claim the thread: the end of the delay of a queued thread, or the end of the lease of a claimed thread. `None` in the other
    /// states.
    pub ready: Option<Timestamp>,
    /// When a worker may claim the thread after the current claim, if the thread was queued or woken during this claim.
    pub again: Option<Timestamp>,
    /// The token of the current claim, which is new for each claim.
    pub token: Option<String>,
    /// The name of the worker that claimed the thread last, for operators.
    pub worker: Option<String>,
    /// The number of claims whose lease expired. Set to 0 when the thread is released as waiting or ended, and when a waiting or ended thread is
    /// queued.
    pub recoveries: u32,
    /// The number of releases with [`WorkOutcome::Retry`]. Set to 0 when the thread is released as waiting or ended, and when a waiting or ended
    /// thread is queued.
    pub attempts: u32,
    /// When the thread was queued first.
    pub created: Timestamp,
    /// When the row was last changed.
    pub updated: Timestamp,
}

/// A claim of threads by a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkClaim {
    /// The agents that the worker has. Threads of the first agents in this list are claimed first.
    pub agents: Vec<WorkAgent>,
    /// The name of the worker, for operators.
    pub worker: String,
    /// The length of the lease.
    pub lease: Duration,
    /// The maximum number of threads, including threads that end with [`WorkCause::CrashLimit`].
    pub limit: u32,
    /// The maximum number of [suspects](WorkRow::is_suspect) among the threads. If a worker drives one suspect at a time, a run that crashes the
    /// process does not bring other runs to the crash limit.
    pub suspects: u32,
    /// The maximum number of expired leases. A thread with more expired leases is not claimed, and ends with [`WorkCause::CrashLimit`].
    pub most_recoveries: u32,
    /// When the worker claims.
    pub at: Timestamp,
}

impl WorkClaim {
    /// Returns a new token for a claim.
    pub fn token() -> String {
        env::token()
    }
}

/// The result of [`WorkStore::claim_work`] and [`WorkStore::claim_thread`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClaimedWork {
    /// The claimed threads, with the tokens of their claims.
    pub claimed: Vec<WorkRow>,
    /// The threads that ended with [`WorkCause::CrashLimit`].
    pub ended: Vec<WorkRow>,
}

/// The next state of a thread that its worker releases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkOutcome {
    /// The thread has no work left.
    Done,
    /// The run failed, and is not tried again.
    Failed,
    /// The thread waits until it is queued or woken.
    Waiting,
    /// The thread is queued again after this time.
    Again(Duration),
    /// The attempt failed and is repeated after this time. It counts in [`WorkRow::attempts`].
    Retry(Duration),
}

impl NewWork {
    /// Checks the conditions of [`WorkStore::queue_work`] that do not depend on stored rows. Fails with `Conflict` if the agent is empty, if the
    /// message belongs to a different thread, or if [`NewMessage::check`] fails.
    pub fn check(&self, message: Option<&NewMessage>) -> Result<(), StoreError> {
        if self.agent.agent.is_empty() {
            return Err(StoreError::Conflict(format!(
                "the work of thread {} has no agent, name the agent",
                self.thread
            )));
        }
        let Some(message) = message else {
            return Ok(());
        };
        if message.thread != self.thread {
            return Err(StoreError::Conflict(format!(
                "the message for thread {} is queued with thread {}, use one thread",
                message.thread, self.thread
            )));
        }
        message.check()
    }
}

impl WorkRow {
    /// Applies [`WorkStore::queue_work`] to the row of the thread, or to `None`. Returns the row to store.
    pub fn queue(stored: Option<Self>, new: NewWork) -> Self {
        let ready = new.at.plus(new.delay);
        let Some(mut row) = stored else {
            return Self {
                thread: new.thread,
                agent: new.agent,
                principal: new.principal,
                facts: new.facts,
                state: WorkState::Queued,
                cause: None,
                ready: Some(ready),
                again: None,
                token: None,
                worker: None,
                recoveries: 0,
                attempts: 0,
                created: new.at,
                updated: new.at,
            };
        };
        row.agent = new.agent;
        row.principal = new.principal;
        row.facts = new.facts;
        row.wake(ready, new.at);
        row
    }

    /// Applies [`WorkStore::wake_work`] to the row. `ready` is the time at which a worker may claim the thread; an earlier time of the row is kept.
    pub fn wake(&mut self, ready: Timestamp, at: Timestamp) {
        let earliest =
            |other: Option<Timestamp>| Some(other.map_or(ready, |other| other.min(ready)));
        match self.state {
            WorkState::Claimed => self.again = earliest(self.again),
            WorkState::Queued => self.ready = earliest(self.ready),
            WorkState::Waiting | WorkState::Ended => {
                self.state = WorkState::Queued;
                self.cause = None;
                self.recoveries = 0;
                self.attempts = 0;
                self.ready = Some(ready);
            }
        }
        self.updated = at;
    }

    /// Returns whether a worker may claim the thread.
    pub fn is_ready(&self, now: Timestamp) -> bool {
        self.ready.is_some_and(|ready| ready <= now)
    }

    /// Returns whether [`WorkStore::claim_thread`] claims or ends the thread of the row.
    pub fn is_claimable(&self, claim: &WorkClaim) -> bool {
        self.is_ready(claim.at) && claim.agents.contains(&self.agent)
    }

    /// Applies [`WorkStore::claim_work`] to a row that [is ready](Self::is_ready). Returns whether the row was claimed. Otherwise it has ended,
    /// because its lease expired too often.
    pub fn claim(&mut self, claim: &WorkClaim, token: String) -> bool {
        self.updated = claim.at;
        if self.state == WorkState::Claimed {
            self.recoveries = self.recoveries.saturating_add(1);
            if self.recoveries > claim.most_recoveries {
                self.leave(WorkState::Ended, Some(WorkCause::CrashLimit));
                return false;
            }
        }
        self.state = WorkState::Claimed;
        self.token = Some(token);
        self.worker = Some(claim.worker.clone());
        self.ready = Some(claim.at.plus(claim.lease));
        true
    }

    /// Returns whether the lease of the thread has expired at least twice, so that its run may have crashed the processes.
    pub fn is_suspect(&self) -> bool {
        self.recoveries >= SUSPECT
    }

    /// Returns whether the row [is a suspect](Self::is_suspect) when it is claimed next.
    pub fn becomes_suspect(&self) -> bool {
        let recovers = u32::from(self.state == WorkState::Claimed);
        self.recoveries.saturating_add(recovers) >= SUSPECT
    }

    fn leave(&mut self, state: WorkState, cause: Option<WorkCause>) {
        self.state = state;
        self.cause = cause;
        self.token = None;
        self.ready = None;
        self.again = None;
    }

    /// Returns whether a token is the token of the current claim.
    fn is_claimed_with(&self, token: &str) -> bool {
        self.state == WorkState::Claimed && self.token.as_deref() == Some(token)
    }

    /// Applies [`WorkStore::extend_work`] to the row. Returns false, and changes nothing, if the token is not the token of the current claim, or if
    /// the lease has expired.
    pub fn extend(&mut self, token: &str, lease: Duration, at: Timestamp) -> bool {
        let extends = self.is_claimed_with(token) && !self.is_ready(at);
        if extends {
            self.ready = self.ready.max(Some(at.plus(lease)));
            self.updated = at;
        }
        extends
    }

    /// Applies [`WorkStore::release_work`] to the row. Returns false, and changes nothing, if the token is not the token of the current claim.
    pub fn release(&mut self, token: &str, outcome: WorkOutcome, at: Timestamp) -> bool {
        if !self.is_claimed_with(token) {
            return false;
        }
        let again = self.again;
        match outcome {
            WorkOutcome::Done => self.leave(WorkState::Ended, Some(WorkCause::Done)),
            WorkOutcome::Failed => self.leave(WorkState::Ended, Some(WorkCause::Failed)),
            WorkOutcome::Waiting => self.leave(WorkState::Waiting, None),
            WorkOutcome::Again(after) | WorkOutcome::Retry(after) => {
                self.leave(WorkState::Queued, None);
                self.ready = Some(at.plus(after));
            }
        }
        if matches!(outcome, WorkOutcome::Retry(_)) {
            self.attempts = self.attempts.saturating_add(1);
        }
        if self.state != WorkState::Queued {
            self.recoveries = 0;
            self.attempts = 0;
        }
        if let Some(again) = again {
            self.wake(again, at);
        }
        self.updated = at;
        true
    }

    /// Returns whether the last change has queued the thread and it is ready at once, so that a waiting worker can claim it.
    #[cfg(feature = "postgres")]
    pub(crate) fn is_queued_now(&self) -> bool {
        self.state == WorkState::Queued && self.is_ready(self.updated)
    }

    /// Returns the workspace of the thread.
    pub fn workspace(&self) -> &Workspace {
        self.thread.workspace()
    }
}

/// A filter for threads in the queue: a row must match every field that is set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkFilter {
    /// Threads of this agent, in any definition.
    pub agent: Option<String>,
    /// Threads in this state.
    pub state: Option<WorkState>,
    /// The maximum number of rows.
    pub limit: Option<u32>,
    /// The cursor: only rows after it. It is the [`WorkRow::thread`] of the last row of the previous page.
    pub after: Option<ThreadId>,
}

impl WorkFilter {
    /// Returns whether the filter admits a row. The caller applies `limit`.
    pub fn admits(&self, row: &WorkRow) -> bool {
        let agent = self.agent.as_ref();
        agent.is_none_or(|agent| *agent == row.agent.agent)
            && self.state.is_none_or(|state| state == row.state)
            && self.after.as_ref().is_none_or(|after| row.thread > *after)
    }
}

/// A queue of threads that any number of workers drive, with one row for each thread.
///
/// A worker claims a thread for the length of a lease and extends the lease while it drives the thread. If its process dies, another worker claims
/// the thread when the lease expires. Each claim has a new token. A worker whose token is not the token of the current claim changes nothing.
///
/// [`Maintenance::erase_contents`](super::Maintenance::erase_contents) and [`Maintenance::purge`](super::Maintenance::purge) remove the row together
/// with the messages of its thread. The erasure of a user removes the rows of the user.
///
/// ```
/// use std::time::Duration;
/// use tool_store::*;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), StoreError> {
/// let (store, at) = (MemoryStore::default(), Timestamp::now());
/// let (thread, agent) = (ThreadId::new("acme", "main")?, WorkAgent::new("chief", "1"));
/// let work = NewWork {
///     thread: thread.clone(), agent: agent.clone(), principal: Some("ann".into()), facts: None, delay: Duration::ZERO, at,
/// };
/// store.queue_work(work, None).await?;
///
/// let lease = Duration::from_secs(30);
/// let claim = WorkClaim { agents: vec![agent], worker: "one".into(), lease, limit: 8, suspects: 1, most_recoveries: 3, at };
/// let claimed = store.claim_work(claim.clone()).await?.claimed;
/// let token = claimed[0].token.clone().unwrap();
/// assert!(store.claim_work(claim).await?.claimed.is_empty());
///
/// assert!(store.extend_work(&thread, &token, lease, at).await?.is_some());
/// assert!(store.release_work(&thread, "another token", WorkOutcome::Done, at).await?.is_none());
/// let row = store.release_work(&thread, &token, WorkOutcome::Done, at).await?.unwrap();
/// assert_eq!((row.state, row.cause), (WorkState::Ended, Some(WorkCause::Done)));
/// # Ok(())
/// # }
/// ```
#[doc(alias("queue", "job", "worker", "lease"))]
pub trait WorkStore: Send + Sync + 'static {
    /// Queues a thread, and appends a message to it if one is passed, in one transaction. Returns the row, and the sequence number of the message.
    ///
    /// A thread that is queued stays queued, a thread that waits or has ended is queued again, and a thread that is claimed is queued again when its
    /// worker releases it. The row gets the agent, the principal and the facts of the new work in each case. Fails with `Conflict` if
    /// [`NewWork::check`] or [`ThreadStore::append`](super::ThreadStore::append) refuses the work or the message.
    fn queue_work(
        &self,
        work: NewWork,
        message: Option<NewMessage>,
    ) -> StoreFuture<'_, (WorkRow, Option<u64>)>;

    /// Queues a thread that has a row, like [`queue_work`](Self::queue_work). Returns `None` if the thread has no row.
    fn wake_work<'a>(
        &'a self,
        thread: &'a ThreadId,
        delay: Duration,
        at: Timestamp,
    ) -> StoreFuture<'a, Option<WorkRow>>;

    /// Claims threads of the agents that the worker has: queued threads that are ready, and claimed threads whose lease has expired. Rows that a
    /// different transaction claims at the same time are skipped.
    ///
    /// A thread whose lease has expired too often ends with [`WorkCause::CrashLimit`], and its run with
    /// [`RunCause::CrashLimit`](super::RunCause::CrashLimit), unless the lease of the run continues for more than a third of the length of the
    /// claim's lease. The next [`queue_work`](Self::queue_work) queues the thread again.
    fn claim_work(&self, claim: WorkClaim) -> StoreFuture<'_, ClaimedWork>;

    /// Claims one thread like [`claim_work`](Self::claim_work), for a host in which a different engine decides which thread is driven next. The
    /// result is empty, and nothing changes, if the thread has no row, if the claim does not contain its agent, if it waits or has ended, if it is
    /// queued for a later time, or if its lease has not expired. [`WorkClaim::limit`] and [`WorkClaim::suspects`] do not apply.
    fn claim_thread<'a>(
        &'a self,
        thread: &'a ThreadId,
        claim: WorkClaim,
    ) -> StoreFuture<'a, ClaimedWork>;

    /// Extends the lease of a claim. Returns `None`, and changes nothing, if the token is not the token of the current claim, or if the lease has
    /// expired.
    fn extend_work<'a>(
        &'a self,
        thread: &'a ThreadId,
        token: &'a str,
        lease: Duration,
        at: Timestamp,
    ) -> StoreFuture<'a, Option<WorkRow>>;

    /// Ends a claim. Returns `None`, and changes nothing, if the token is not the token of the current claim. A thread that was queued or woken
    /// during the claim is queued again.
    fn release_work<'a>(
        &'a self,
        thread: &'a ThreadId,
        token: &'a str,
        outcome: WorkOutcome,
        at: Timestamp,
    ) -> StoreFuture<'a, Option<WorkRow>>;

    /// Completes with a number greater than `hint` when a different process may have queued a thread that is ready, for example after a notification
    /// of the database. Pass 0 first, and then the last result. The caller must also poll, because a notification may be lost. The default
    /// implementation never completes.
    fn work_hint(&self, hint: u64) -> StoreFuture<'_, u64> {
        let _ = hint;
        Box::pin(std::future::pending())
    }

    /// Returns the row of a thread; `None` if the thread was never queued or its row was removed.
    fn work<'a>(&'a self, thread: &'a ThreadId) -> StoreFuture<'a, Option<WorkRow>>;

    /// Lists threads, ordered by workspace and conversation.
    fn list_work<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a WorkFilter,
    ) -> StoreFuture<'a, Vec<WorkRow>>;

    /// Removes the row of a thread. Returns whether the row existed. A worker that has claimed the thread loses its claim.
    fn remove_work<'a>(&'a self, thread: &'a ThreadId) -> StoreFuture<'a, bool>;
}
