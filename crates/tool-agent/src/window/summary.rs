//! Summaries of threads, and the stores for them.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use futures::future::{FutureExt as _, ready};
use serde::{Deserialize, Serialize};
use tool_core::store::{StoreFuture, ThreadId};

/// A summary of the beginning of a thread.
///
/// `Debug` does not print the text, because a summary has the sensitivity of the thread.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StoredSummary {
    /// The sequence number of the message with which the summary ends: the message of the model that begins the last round, or the last message of a
    /// user without an answer. 0 if there is no summary.
    pub through: u64,
    /// The sequence number of the last message of the thread when the summary was written.
    pub read: u64,
    /// The text; empty if there is no summary.
    pub text: String,
    /// The estimated tokens of the thread at which a compaction is tried again, after a compaction that saved too little; 0 otherwise.
    #[serde(default)]
    pub next_attempt: u64,
}

/// Keeps the summaries of threads across runs. A later summary of a thread replaces the earlier one.
///
/// A summary has the sensitivity of the thread: it contains texts of the user and results of tools. Store it with the same protection, and remove it
/// when the thread is erased. A summary is not used if the thread does not contain the message with which the summary ends, so a summary that was not
/// deleted with its thread is ignored.
///
/// If a method fails, the error is logged, and the run continues: without the stored summary after `get`, with the new summary after `put`.
pub trait SummaryStore: Send + Sync {
    /// Returns the summary of a thread.
    fn get<'a>(&'a self, thread: &'a ThreadId) -> StoreFuture<'a, Option<StoredSummary>>;

    /// Replaces the summary of a thread.
    fn put<'a>(&'a self, thread: &'a ThreadId, summary: StoredSummary) -> StoreFuture<'a, ()>;
}

/// Keeps summaries in memory, until the process ends. All clones share them.
///
/// It has no limit on the number of threads: call [`remove`](Self::remove) when a conversation ends.
#[derive(Clone, Default)]
pub struct MemorySummaryStore(Arc<Mutex<HashMap<ThreadId, StoredSummary>>>);

impl MemorySummaryStore {
    /// Removes the summary of a thread.
    pub fn remove(&self, thread: &ThreadId) {
        self.with(|summaries| summaries.remove(thread));
    }

    fn with<T>(&self, change: impl FnOnce(&mut HashMap<ThreadId, StoredSummary>) -> T) -> T {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl SummaryStore for MemorySummaryStore {
    fn get<'a>(&'a self, thread: &'a ThreadId) -> StoreFuture<'a, Option<StoredSummary>> {
        ready(Ok(self.with(|summaries| summaries.get(thread).cloned()))).boxed()
    }

    fn put<'a>(&'a self, thread: &'a ThreadId, summary: StoredSummary) -> StoreFuture<'a, ()> {
        self.with(|summaries| summaries.insert(thread.clone(), summary));
        ready(Ok(())).boxed()
    }
}

impl fmt::Debug for MemorySummaryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let threads = self.with(|summaries| summaries.len());
        f.debug_struct("MemorySummaryStore")
            .field("threads", &threads)
            .finish()
    }
}

impl fmt::Debug for StoredSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoredSummary")
            .field("through", &self.through)
            .field("read", &self.read)
            .field("bytes", &self.text.len())
            .finish_non_exhaustive()
    }
}
