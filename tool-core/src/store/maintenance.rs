//! Erasure and retention, over all tables of a store.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{StoreFuture, ThreadId, Timestamp, Workspace};

/// Names the rows whose contents are erased.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Erasure<'a> {
    /// One thread.
    Thread(&'a ThreadId),
    /// Everything of one user in one workspace, but for messages: a thread is erased by its own name.
    Principal {
        /// The workspace.
        workspace: &'a Workspace,
        /// The user.
        principal: &'a str,
    },
}

/// How many rows an erasure met.
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
}

/// How long rows are kept; `None` keeps them for ever. The default keeps everything but spilled outputs, which go when they expire.
///
/// ```
/// use std::time::Duration;
/// use tool_core::store::Retention;
///
/// let day = Duration::from_secs(24 * 60 * 60);
/// let retention = Retention { audit: Some(400 * day), threads: Some(90 * day), ..Retention::default() };
/// # let _ = retention;
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Retention {
    /// Audit rows, since their call arrived.
    pub audit: Option<Duration>,
    /// Approvals that are denied, expired, spent or withdrawn, since they were asked for. Open ones stay.
    pub approvals: Option<Duration>,
    /// Effects that have succeeded or failed, since their end. A row stays for longer where the store still holds messages of its thread
    /// or an approval of its call, which could name it. Ambiguous rows stay until somebody has settled them.
    pub effects: Option<Duration>,
    /// Messages of threads in which nothing was written for so long. The last sequence number of a thread stays, so that a new call
    /// is never taken for an old one.
    pub threads: Option<Duration>,
    /// Runs that have ended, since their end. The last number of a thread stays.
    pub runs: Option<Duration>,
    /// Messages of versions before 0.2 that belong to no workspace.
    pub unassigned: Option<Duration>,
    /// Kill switches and disables that are off, since they were turned off.
    pub switches: Option<Duration>,
}

/// What a purge has removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Purged {
    /// Audit rows.
    pub audit: u64,
    /// Approvals.
    pub approvals: u64,
    /// Effects.
    pub effects: u64,
    /// Threads whose messages were removed.
    pub threads: u64,
    /// Runs.
    pub runs: u64,
    /// Messages that belonged to no workspace.
    pub unassigned: u64,
    /// Spilled outputs.
    pub spills: u64,
    /// Switches.
    pub switches: u64,
    /// Whether a table had as many rows as one purge removes, so that another purge may find more.
    pub more: bool,
}

impl Retention {
    /// The time before which rows of an age go; `None` where they are kept.
    pub fn since(age: Option<Duration>, now: Timestamp) -> Option<Timestamp> {
        let millis = i64::try_from(age?.as_millis()).unwrap_or(i64::MAX);
        Some(Timestamp::from_millis(
            now.as_millis().saturating_sub(millis),
        ))
    }
}

/// Erasure and retention of a store that keeps everything.
///
/// ```
/// use tool_core::store::*;
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
    /// Erases contents, in one transaction: messages, audit rows and spilled outputs are removed; of effects the result, of approvals
    /// arguments, reasons and edits are blanked, while key, state and times stay, so that no effect happens twice. An open approval
    /// is withdrawn. What is erased is in no file of the store afterwards.
    ///
    /// A thread's audit rows and spilled outputs belong to its users, so only [`Erasure::Principal`] removes them.
    fn erase_contents<'a>(&'a self, of: Erasure<'a>) -> StoreFuture<'a, Erased>;

    /// Removes rows that are older than a retention, at most `most` of each table, and spilled outputs that have expired by `now`.
    fn purge<'a>(
        &'a self,
        retention: &'a Retention,
        now: Timestamp,
        most: u32,
    ) -> StoreFuture<'a, Purged>;
}
