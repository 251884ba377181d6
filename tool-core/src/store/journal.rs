//! Writes to several stores in one transaction.

use std::fmt;
use std::sync::Arc;

use super::shield::shielded;
use super::{
    AuditRow, CallKey, EffectEnd, Ended, NewMessage, NewRun, RunBegun, RunEnd, RunId, StoreError,
    StoreFuture,
};

/// Changes that are written together or not at all.
///
/// The end of a call changes the effect ledger, the audit and the thread, the last message of a run ends the run, and a user's message may
/// begin one. Where these are parts of one database, one transaction does it, which is one `fsync` in place of three, and no crash comes in
/// between.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batch {
    /// What [`EffectLedger::end`](super::EffectLedger::end) takes.
    pub effect: Option<EndedEffect>,
    /// A row for [`AuditSink::write`](super::AuditSink::write).
    pub audit: Option<AuditRow>,
    /// A message for [`ThreadStore::append`](super::ThreadStore::append).
    pub message: Option<NewMessage>,
    /// What [`RunStore::end_run`](super::RunStore::end_run) takes.
    pub run: Option<EndedRun>,
    /// What [`RunStore::begin_run`](super::RunStore::begin_run) takes.
    pub begin: Option<NewRun>,
}

/// The end of an effect, for a [`Batch`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndedEffect {
    /// The key of the call.
    pub key: CallKey,
    /// The owner that the row was begun with.
    pub owner: String,
    /// What came of the effect.
    pub end: EffectEnd,
}

/// The end of a run, for a [`Batch`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndedRun {
    /// The run.
    pub id: RunId,
    /// The owner that the run was begun with.
    pub owner: String,
    /// How it ended.
    pub end: RunEnd,
}

/// What the methods of the single stores would have returned for the parts of a [`Batch`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batched {
    /// Whether the effect ended within its lease.
    pub effect: Option<Ended>,
    /// The sequence number of the message.
    pub message: Option<u64>,
    /// Whether the run was this owner's.
    pub run: Option<bool>,
    /// The run that was begun, or the one that goes on in its place. The other parts are written in both cases.
    pub begun: Option<RunBegun>,
}

/// A database that can write a [`Batch`].
pub trait BatchStore: Send + Sync + 'static {
    /// Does in one transaction, and in this order, what the single stores do with each part: ends the effect, writes the audit's row,
    /// appends the message, ends the run, begins a run.
    ///
    /// Where one part is refused, nothing is written, and the error is that of the part. A caller then writes the parts one by one.
    fn write_batch(&self, batch: Batch) -> StoreFuture<'_, Batched>;
}

/// The transactions of the database that a store is a part of.
///
/// A store returns it from [`EffectLedger::journal`](super::EffectLedger::journal) and the same methods of
/// [`AuditSink`](super::AuditSink), [`ThreadStore`](super::ThreadStore) and [`RunStore`](super::RunStore). Two stores are parts of one
/// database where their journals are equal.
///
/// ```
/// use tool_core::store::{EffectLedger, MemoryStore, ThreadStore};
///
/// let (one, other) = (MemoryStore::default(), MemoryStore::default());
/// let ledger = EffectLedger::journal(&one).unwrap();
/// assert_eq!(ledger, ThreadStore::journal(&one.clone()).unwrap());
/// assert_ne!(ledger, ThreadStore::journal(&other).unwrap());
/// ```
#[derive(Clone)]
pub struct Journal {
    store: Arc<dyn BatchStore>,
    database: usize,
}

impl Journal {
    /// The journal of a store. `shared` is what all handles of the database share, and what `store` keeps alive: it is compared by its
    /// address.
    pub fn new<T: ?Sized>(store: Arc<dyn BatchStore>, shared: &Arc<T>) -> Self {
        let database = Arc::as_ptr(shared).cast::<()>().addr();
        Self { store, database }
    }

    /// Writes a batch. A panic of the store is [`StoreError::Unavailable`].
    pub async fn write(&self, batch: Batch) -> Result<Batched, StoreError> {
        shielded(|| self.store.write_batch(batch)).await
    }
}

impl PartialEq for Journal {
    fn eq(&self, other: &Self) -> bool {
        self.database == other.database
    }
}

impl Eq for Journal {}

impl fmt::Debug for Journal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Journal").finish_non_exhaustive()
    }
}
