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
/// The end of a call changes the effect ledger, the audit and the thread; the last message of a run ends the run; a user's message may begin a run.
/// If these stores belong to one database, one transaction writes all the changes: it needs one `fsync` instead of three, and a crash cannot separate
/// the changes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batch {
    /// The arguments of [`EffectLedger::end`](super::EffectLedger::end).
    pub effect: Option<EndedEffect>,
    /// A row for [`AuditSink::write`](super::AuditSink::write).
    pub audit: Option<AuditRow>,
    /// A message for [`ThreadStore::append`](super::ThreadStore::append).
    pub message: Option<NewMessage>,
    /// The arguments of [`RunStore::end_run`](super::RunStore::end_run).
    pub run: Option<EndedRun>,
    /// The argument of [`RunStore::begin_run`](super::RunStore::begin_run).
    pub begin: Option<NewRun>,
    /// The run whose driver writes the batch. The batch is refused with [`Conflict`](StoreError::Conflict) unless this run is the last run of the
    /// thread and has this owner.
    pub fence: Option<RunFence>,
}

/// The condition of a [`Batch`] that a driver writes: the run of the driver is still the last run of the thread, and still belongs to the driver.
///
/// A process that was suspended for longer than its lease does not detect that its run was taken over. The store detects it, in the transaction of
/// the write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunFence {
    /// The run of the driver.
    pub id: RunId,
    /// The owner with which the driver has begun the run or taken it over.
    pub owner: String,
}

impl RunFence {
    /// Checks the condition, for authors of a store. `last` is the number and the owner of the last run of the thread, `None` if the thread has none.
    ///
    /// A run that its own driver has ended passes the check until the next run begins, because the ends of its calls may be written later.
    ///
    /// # Errors
    ///
    /// Fails with [`Conflict`](StoreError::Conflict) unless the last run is this run with this owner.
    pub fn check(&self, last: Option<(u64, &str)>) -> Result<(), StoreError> {
        if last == Some((self.id.number(), &self.owner)) {
            return Ok(());
        }
        Err(StoreError::Conflict(format!(
            "{} has a new owner or is not the last run of its thread, so nothing was written",
            self.id
        )))
    }
}

/// The end of an effect, for a [`Batch`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndedEffect {
    /// The key of the call.
    pub key: CallKey,
    /// The owner that the row was begun with.
    pub owner: String,
    /// The end of the body, with the state and the result of the effect.
    pub end: EffectEnd,
}

/// The end of a run, for a [`Batch`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndedRun {
    /// The id of the run.
    pub id: RunId,
    /// The owner with which the driver has begun the run or taken it over.
    pub owner: String,
    /// The cause and the time of the end, and the steps and tokens that the run used.
    pub end: RunEnd,
}

/// The results of a [`Batch`]: for each part, the result of the method that the part replaces.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batched {
    /// Whether the effect ended within its lease.
    pub effect: Option<Ended>,
    /// The sequence number of the message.
    pub message: Option<u64>,
    /// Whether the run was running and belonged to this owner, and has ended now.
    pub run: Option<bool>,
    /// The run that was begun, or the run that continues in its place. In both cases, the other parts are written.
    pub begun: Option<RunBegun>,
}

/// A database that can write a [`Batch`].
pub trait BatchStore: Send + Sync + 'static {
    /// Applies each part like the method that it replaces, in one transaction and in this order: ends the effect, writes the audit row, appends the
    /// message, ends the run, begins a run. The fence is checked before the end of the run.
    ///
    /// If a part or the fence is refused, the method writes nothing and returns the error. A caller may then write the parts one by one.
    fn write_batch(&self, batch: Batch) -> StoreFuture<'_, Batched>;
}

/// The transactions of the database that a store belongs to.
///
/// A store returns it from [`EffectLedger::journal`](super::EffectLedger::journal) and from the `journal` methods of
/// [`AuditSink`](super::AuditSink), [`ThreadStore`](super::ThreadStore) and [`RunStore`](super::RunStore). Two stores belong to one
/// database if their journals are equal.
///
/// ```
/// use tool_store::{EffectLedger, MemoryStore, ThreadStore};
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
    /// Creates the journal of a store. Two journals are equal if their `shared` has the same address. Pass a value that `store` keeps alive, and that
    /// two handles share only if each of them may write the batches of the other.
    pub fn new<T: ?Sized>(store: Arc<dyn BatchStore>, shared: &Arc<T>) -> Self {
        let database = Arc::as_ptr(shared).cast::<()>().addr();
        Self { store, database }
    }

    /// Writes a batch. A panic of the store becomes [`StoreError::Unavailable`].
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
