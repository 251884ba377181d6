//! In-memory store of all tables, which one lock protects.

#[cfg(feature = "host")]
mod administration;
#[cfg(feature = "host")]
mod approval;
#[cfg(feature = "host")]
mod audit;
#[cfg(feature = "host")]
mod budget;
mod catalogue;
#[cfg(feature = "host")]
mod change;
#[cfg(feature = "host")]
mod child;
#[cfg(feature = "host")]
mod directory;
mod enablement;
#[cfg(feature = "host")]
mod event;
#[cfg(feature = "host")]
mod journal;
#[cfg(feature = "host")]
mod knowledge;
#[cfg(feature = "host")]
mod ledger;
#[cfg(feature = "host")]
mod limit;
#[cfg(feature = "host")]
mod long_term;
#[cfg(feature = "host")]
mod maintenance;
#[cfg(feature = "host")]
mod plan;
#[cfg(feature = "host")]
mod record_change;
#[cfg(feature = "host")]
mod room;
#[cfg(feature = "host")]
mod run;
#[cfg(feature = "host")]
mod schedule;
#[cfg(feature = "host")]
mod sealed;
#[cfg(feature = "host")]
mod secret;
mod spill;
#[cfg(feature = "host")]
mod stored_tool;
#[cfg(feature = "host")]
mod switch;
mod thread;
#[cfg(feature = "host")]
mod thread_event;
#[cfg(feature = "host")]
mod variable;
#[cfg(feature = "host")]
mod work;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{StoreError, StoreFuture};

/// All stores in memory, for tests and for hosts that may lose their data. Clones share the data.
///
/// One lock protects all tables, so that other tasks see a change of several rows as a single step, and no code awaits while it holds the lock. Most
/// rows are looked up by key, and most expiring rows by time; most lists iterate over the rows in order and stop at their limit. No background
/// task removes rows.
///
/// ```
/// use tool_store::{ApprovalStore, MemoryStore};
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
    #[cfg(feature = "host")]
    requests: change::Requests,
    threads: thread::Threads,
    #[cfg(feature = "host")]
    thread_events: thread_event::ThreadEvents,
    #[cfg(feature = "host")]
    children: child::Children,
    #[cfg(feature = "host")]
    work: work::Work,
    #[cfg(feature = "host")]
    budgets: budget::Budgets,
    #[cfg(feature = "host")]
    limits: limit::SharedLimits,
    #[cfg(feature = "host")]
    documents: knowledge::Documents,
    #[cfg(feature = "host")]
    plans: plan::Plans,
    #[cfg(feature = "host")]
    rooms: room::Rooms,
    #[cfg(feature = "host")]
    memories: long_term::Memories,
    #[cfg(feature = "host")]
    runs: run::Runs,
    #[cfg(feature = "host")]
    schedule: schedule::Schedule,
    spills: spill::Spills,
    catalogue: catalogue::Entries,
    enablement: enablement::Enablement,
    #[cfg(feature = "host")]
    seal_keys: sealed::Keys,
    #[cfg(feature = "host")]
    secrets: secret::Secrets,
    #[cfg(feature = "host")]
    variables: variable::Variables,
    #[cfg(feature = "host")]
    people: directory::People,
    #[cfg(feature = "host")]
    stored_tools: stored_tool::StoredTools,
    #[cfg(feature = "host")]
    events: event::Events,
}

impl MemoryStore {
    /// Locks the tables for one step. A poisoned lock is still usable, because each step finishes its checks before it changes a table.
    fn tables(&self) -> MutexGuard<'_, Tables> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs one step when the future is polled.
    fn step<'a, T: 'a>(
        &'a self,
        step: impl FnOnce(&mut Tables) -> Result<T, StoreError> + Send + 'a,
    ) -> StoreFuture<'a, T> {
        Box::pin(async move {
            let mut tables = self.tables();
            let done = step(&mut tables);
            #[cfg(feature = "host")]
            tables.collect_events();
            done
        })
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore").finish_non_exhaustive()
    }
}

/// Returns the limit of a filter, as a number of rows.
fn limited(limit: Option<u32>) -> usize {
    limit.map_or(usize::MAX, |limit| {
        usize::try_from(limit).unwrap_or(usize::MAX)
    })
}

/// Converts a length to the number of rows that a method returns.
fn count(rows: usize) -> u64 {
    u64::try_from(rows).unwrap_or(u64::MAX)
}
