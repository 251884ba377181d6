//! Everything in memory, behind one lock.

#[cfg(feature = "host")]
mod approval;
#[cfg(feature = "host")]
mod audit;
mod catalogue;
#[cfg(feature = "host")]
mod journal;
#[cfg(feature = "host")]
mod ledger;
#[cfg(feature = "host")]
mod maintenance;
#[cfg(feature = "host")]
mod run;
mod spill;
#[cfg(feature = "host")]
mod switch;
mod thread;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{StoreError, StoreFuture};

/// All stores in memory, for tests and for hosts that may forget. Clones share what they keep.
///
/// One lock lies over everything, so that a change of several rows is one step for everybody else, and nothing waits while it holds
/// the lock. One row is found by its key, what expires by its time; lists walk their rows in order and stop at their limit. Nothing
/// is removed unless a method that removes is called.
///
/// ```
/// use tool_core::store::{ApprovalStore, MemoryStore};
///
/// let store = MemoryStore::default();
/// assert!(!ApprovalStore::is_durable(&store));
/// ```
#[derive(Clone, Default)]
pub struct MemoryStore(Arc<Mutex<Tables>>);

#[derive(Default)]
struct Tables {
    #[cfg(feature = "host")]
    approvals: approval::Approvals,
    #[cfg(feature = "host")]
    ledger: ledger::Ledger,
    #[cfg(feature = "host")]
    audit: audit::Audit,
    #[cfg(feature = "host")]
    switches: switch::Switches,
    threads: thread::Threads,
    #[cfg(feature = "host")]
    runs: run::Runs,
    spills: spill::Spills,
    catalogue: catalogue::Entries,
}

impl MemoryStore {
    /// The tables, for one step. A panic elsewhere does not take them away: steps check first and change after.
    fn tables(&self) -> MutexGuard<'_, Tables> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One step, taken when the future is polled.
    fn step<'a, T: 'a>(
        &'a self,
        step: impl FnOnce(&mut Tables) -> Result<T, StoreError> + Send + 'a,
    ) -> StoreFuture<'a, T> {
        Box::pin(async move { step(&mut self.tables()) })
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore").finish_non_exhaustive()
    }
}

/// The first rows, as many as a filter wants.
#[cfg(feature = "host")]
fn limited(limit: Option<u32>) -> usize {
    limit.map_or(usize::MAX, |limit| {
        usize::try_from(limit).unwrap_or(usize::MAX)
    })
}

/// A length as the number of rows that a method returns.
fn count(rows: usize) -> u64 {
    u64::try_from(rows).unwrap_or(u64::MAX)
}
