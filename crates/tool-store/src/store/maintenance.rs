//! Erasure and retention, over all tables of a store.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{StoreFuture, ThreadId, Timestamp, VariableScope, Workspace};

/// Selects the rows whose contents are erased.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Erasure<'a> {
    /// The contents of one thread.
    Thread(&'a ThreadId),
    /// The contents of one user in one workspace that [`Maintenance::erase_contents`] lists. The messages of threads are erased only with the thread.
    Principal {
        /// The workspace of the user.
        workspace: &'a Workspace,
        /// The user whose contents are erased.
        principal: &'a str,
    },
}

/// The numbers of rows that an erasure has changed or removed. Rows of other tables, such as rooms and plans, are not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Erased {
    /// Messages that were removed.
    pub messages: u64,
    /// Effects whose result was blanked.
    pub effects: u64,
    /// Approvals whose arguments, reasons and edits were blanked.
    pub approvals: u64,
    /// Audit rows that were removed.
    pub audit: u64,
    /// Spilled outputs that were removed.
    pub spills: u64,
    /// Variables of the thread or the user that were removed.
    pub variables: u64,
    /// Memories that were removed.
    pub memories: u64,
    /// Stored responses that were removed: responses that may contain erased contents, and responses to requests of the user.
    pub requests: u64,
}

/// How long rows are kept; `None` keeps them forever. The default keeps everything except spilled outputs, idempotency keys, shared limits and
/// ephemeral memories, which are removed when they expire, and events, which are removed after [`EVENTS_KEPT`](super::EVENTS_KEPT).
///
/// ```
/// use std::time::Duration;
/// use tool_store::Retention;
///
/// let day = Duration::from_secs(24 * 60 * 60);
/// let retention = Retention { audit: Some(400 * day), threads: Some(90 * day), ..Retention::default() };
/// # let _ = retention;
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Retention {
    /// Audit rows, counted from the time of the call or the change.
    pub audit: Option<Duration>,
    /// Approvals that are denied, expired, spent or withdrawn, counted from their request. Open approvals are kept.
    pub approvals: Option<Duration>,
    /// Effects that have succeeded or failed, counted from their end. A row is kept longer if the store still contains messages of its thread or an
    /// approval of its call, because these could refer to the row. Ambiguous rows are kept until an operator has settled them.
    pub effects: Option<Duration>,
    /// Messages of threads without a new message for this time. The last sequence number of a thread is kept, so that a new call never has the
    /// identity of an old call. The thread's row as a child thread, its row in the queue of workers, its events, its runs of plans, its room and its
    /// notes are removed as well.
    pub threads: Option<Duration>,
    /// Runs that have ended, counted from their end, and runs of scheduled tasks. The last run number of a thread is kept.
    pub runs: Option<Duration>,
    /// [Budgets](super::BudgetStore) without an open reservation, counted from their last change.
    pub budgets: Option<Duration>,
    /// Messages without a workspace. Earlier versions stored them in threads that several workspaces used.
    pub unassigned: Option<Duration>,
    /// Kill switches and disables that are off, counted from when they were turned off.
    pub switches: Option<Duration>,
}

/// The numbers of rows that a purge has removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Purged {
    /// Audit rows that were removed.
    pub audit: u64,
    /// Approvals that were removed.
    pub approvals: u64,
    /// Effects that were removed.
    pub effects: u64,
    /// Threads whose messages were removed.
    pub threads: u64,
    /// Runs that were removed.
    pub runs: u64,
    /// Budgets that were removed.
    pub budgets: u64,
    /// Expired [shared limits](super::LimitStore) that were removed.
    pub limits: u64,
    /// Runs of scheduled tasks that were removed.
    pub task_runs: u64,
    /// Messages without a workspace that were removed.
    pub unassigned: u64,
    /// Spilled outputs that were removed.
    pub spills: u64,
    /// Switches that were removed.
    pub switches: u64,
    /// Expired idempotency keys that were removed, with their responses.
    pub requests: u64,
    /// Events older than [`EVENTS_KEPT`](super::EVENTS_KEPT) that were removed.
    pub events: u64,
    /// Expired [ephemeral](super::Durability::Ephemeral) memories that were removed.
    pub memories: u64,
    /// Whether a table had as many rows as one purge removes, so that a further purge may find more.
    pub more: bool,
}

impl Purged {
    /// Returns whether a table reached the limit of rows that one purge removes from the table, so that a further purge may find more. Returns false
    /// if `most` is 0.
    pub fn reached(&self, most: u32) -> bool {
        // Each field is named, so that a new table cannot be forgotten.
        let Self {
            audit,
            approvals,
            effects,
            threads,
            runs,
            budgets,
            limits,
            task_runs,
            unassigned,
            spills,
            switches,
            requests,
            events,
            memories,
            more: _,
        } = *self;
        [
            approvals, audit, budgets, effects, events, limits, memories, requests, runs, spills,
            switches, task_runs, threads, unassigned,
        ]
        .into_iter()
        .any(|rows| rows > 0 && rows >= u64::from(most))
    }
}

impl Erasure<'_> {
    #[cfg(any(feature = "sqlite", feature = "postgres"))]
    pub(crate) fn workspace(&self) -> &Workspace {
        match self {
            Self::Thread(thread) => thread.workspace(),
            Self::Principal { workspace, .. } => workspace,
        }
    }

    /// Returns the owner of the variables that are removed; `None` if the user's name is empty.
    pub fn variables(&self) -> Option<VariableScope> {
        match self {
            Self::Thread(thread) => Some(VariableScope::thread(thread)),
            Self::Principal {
                workspace,
                principal,
            } => VariableScope::user(*workspace, *principal).ok(),
        }
    }
}

impl Retention {
    /// Returns the time before which rows are removed if they are kept for `age`; `None` if they are kept forever.
    pub fn since(age: Option<Duration>, now: Timestamp) -> Option<Timestamp> {
        let millis = i64::try_from(age?.as_millis()).unwrap_or(i64::MAX);
        Some(Timestamp::from_millis(
            now.as_millis().saturating_sub(millis),
        ))
    }
}

/// Erasure and retention for a store that contains all tables.
///
/// ```
/// use tool_store::*;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), StoreError> {
/// let store = MemoryStore::default();
/// let main = ThreadId::new("acme", "main")?;
/// let erased = store.erase_contents(Erasure::Thread(&main)).await?;
/// assert_eq!(erased, Erased::default());
/// while store.purge(&Retention::default(), Timestamp::now(), 200).await?.more {}
/// # Ok(())
/// # }
/// ```
pub trait Maintenance: Send + Sync + 'static {
    /// Erases contents, in one transaction. [`Erasure::Thread`] removes the messages of the thread; audit rows and spilled outputs of the thread are
    /// kept, because they belong to users. [`Erasure::Principal`] removes the user's spilled outputs and audit rows, except the audit rows of changes
    /// by operators. Both blank the results of effects, and the arguments, reasons and edits of approvals, but keep their keys, states and times, so
    /// that no effect happens twice. An open approval is withdrawn. Afterwards, no file of a `SqliteStore` contains the erased data; a PostgreSQL
    /// server keeps it until a vacuum, and in its write-ahead log until the log is recycled.
    ///
    /// A running run of the thread, or on behalf of the user, ends as [cancelled](super::RunCause::Cancelled) in the same transaction, by the rules
    /// of [`RunRow::erase`](super::RunRow::erase): its driver writes no more messages, and stops at the latest when it renews its lease. Until then,
    /// a call that it has begun may still write its own rows, such as the result of its effect. Erase again after the lease to remove these, too.
    ///
    /// A store of [child threads](super::ChildStore) also removes the row of the thread and the rows of its children, because a row contains a name
    /// that a model wrote. The messages of the children are kept: list the children first, and erase each of them.
    ///
    /// A [queue of threads](super::WorkStore) also removes the row of the thread, or the rows of the user, because a row contains facts about its
    /// caller. A store of the [events of threads](super::ThreadEventStore) removes the events of the thread, and a store of
    /// [budgets](super::BudgetStore) the budget with the name of the conversation.
    ///
    /// A store of [documents](super::KnowledgeStore) removes the name of the user from the documents, and keeps the documents, which belong to the
    /// workspace.
    ///
    /// A store of [plans](super::PlanStore) removes the runs of the thread, or the runs for the user, with their events.
    ///
    /// A store of [rooms](super::RoomStore) removes the room of the thread, or the events and messages that the user wrote. A summary is kept,
    /// because its parts have no author.
    ///
    /// A [schedule](super::ScheduleStore) removes the runs whose conversation is the thread, or the tasks of the user with their runs.
    ///
    /// A store of [memories](super::LongTermStore) also removes the notes of the thread, and the memories that were last stored in the thread or for
    /// the user.
    ///
    /// A store of variables also removes the variables of the thread, with its requests for variables, or the variables of the user. A store of
    /// idempotency keys also removes the responses that may contain erased contents ([`Changed::contents_of`](super::Changed::contents_of)), and the
    /// responses to requests of the user.
    fn erase_contents<'a>(&'a self, of: Erasure<'a>) -> StoreFuture<'a, Erased>;

    /// Removes rows that are older than the retention, at most `most` of each table. Also removes spilled outputs and idempotency keys that have
    /// expired at `now`, expired [shared limits](super::LimitStore), expired memories, and events that are older than
    /// [`EVENTS_KEPT`](super::EVENTS_KEPT), again at most `most` of each. A thread is removed with its notes, and the memories that were stored in it
    /// are kept.
    fn purge<'a>(
        &'a self,
        retention: &'a Retention,
        now: Timestamp,
        most: u32,
    ) -> StoreFuture<'a, Purged>;
}
