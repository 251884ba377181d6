//! Rows on their way to a sink that may be slow or away.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::Notify;

use super::row::Late;
use crate::env;
use crate::store::{AuditRow, AuditSink, StoreError};
use crate::sync::Backlog;

/// Rows that make a write worth its while.
const BATCH: usize = 10;
/// A row waits no longer than this.
const WAIT: Duration = Duration::from_secs(5);
/// Most rows that are kept while the sink fails.
const MOST: usize = 500;

/// A row, or what one is made of: the call itself should not pay for the writing.
pub(crate) enum Entry {
    Row(Box<AuditRow>),
    Late(Box<Late>),
}

impl Entry {
    fn row(&self) -> AuditRow {
        match self {
            Self::Row(row) => AuditRow::clone(row),
            Self::Late(late) => late.row(),
        }
    }

    /// Without the call's context, which need not wait for a sink that is away.
    fn settled(self) -> Self {
        match self {
            Self::Row(row) => Self::Row(row),
            Self::Late(late) => Self::Row(Box::new(late.row())),
        }
    }
}

/// Audit rows that wait to be written: ten at a time, or whatever there is after five seconds.
///
/// A write that fails is tried again with the next; of what waits then, the newest 500 rows are kept, and what is dropped is counted
/// and warned of.
#[derive(Clone)]
pub struct AuditBuffer(Arc<Inner>);

struct Inner {
    sink: Arc<dyn AuditSink>,
    queue: Backlog<Entry>,
    /// Woken when a batch is full.
    full: Notify,
    /// Held while rows are written, so that they arrive in order.
    writing: tokio::sync::Mutex<()>,
    /// A task writes in the background.
    tended: AtomicBool,
}

impl AuditBuffer {
    pub(super) fn new(sink: Arc<dyn AuditSink>) -> Self {
        Self(Arc::new(Inner {
            sink: crate::gate::shield::sink(sink),
            queue: Backlog::new(MOST),
            full: Notify::new(),
            writing: tokio::sync::Mutex::new(()),
            tended: AtomicBool::new(false),
        }))
    }

    /// How many rows were dropped because the sink failed for too long.
    pub fn dropped(&self) -> u64 {
        self.0.queue.dropped()
    }

    /// How many rows wait.
    pub fn waiting(&self) -> usize {
        self.0.queue.len()
    }

    /// Writes everything that waits. Call it before the program ends.
    ///
    /// On an error the rows stay in the buffer.
    pub async fn flush(&self) -> Result<(), StoreError> {
        self.0.flush().await
    }

    pub(crate) fn push(&self, entry: Entry) {
        let inner = &self.0;
        let (waiting, dropped) = inner.queue.push(entry);
        inner.warn(dropped);
        if !inner.tended.load(Ordering::Relaxed) {
            self.tend();
        }
        if waiting == BATCH {
            inner.full.notify_one();
        }
    }

    /// Starts the task that writes, where there is a runtime. It ends with the buffer, or with its runtime.
    fn tend(&self) {
        /// Another runtime may start another task after this one.
        struct Untended(std::sync::Weak<Inner>);
        impl Drop for Untended {
            fn drop(&mut self) {
                if let Some(inner) = self.0.upgrade() {
                    inner.tended.store(false, Ordering::Relaxed);
                }
            }
        }
        if self.0.tended.swap(true, Ordering::Relaxed) {
            return;
        }
        let weak = Arc::downgrade(&self.0);
        let untended = Untended(weak.clone());
        // Where there is no runtime the task is dropped, and with it the mark.
        env::spawn(async move {
            let _untended = untended;
            loop {
                let Some(inner) = weak.upgrade() else { break };
                // Rows that are left alone are written after the wait; nobody waits for the task while there are none.
                let _ = tokio::time::timeout(WAIT, inner.full.notified()).await;
                if let Err(error) = inner.flush().await {
                    tracing::warn!(%error, waiting = inner.queue.len(), "audit rows could not be written, they are tried again");
                }
                if Arc::strong_count(&inner) == 1 {
                    break;
                }
            }
        });
    }
}

impl Inner {
    fn warn(&self, dropped: u64) {
        if dropped > 0 {
            tracing::warn!(
                dropped = self.queue.dropped(),
                "audit rows were dropped, because their sink has failed for too long"
            );
        }
    }

    async fn flush(&self) -> Result<(), StoreError> {
        let _writing = self.writing.lock().await;
        let entries = self.queue.take();
        if entries.is_empty() {
            return Ok(());
        }
        let mut taken = Taken {
            inner: self,
            entries,
        };
        let rows = taken.entries.iter().map(Entry::row).collect();
        self.sink.write(rows).await?;
        taken.entries.clear();
        Ok(())
    }
}

/// What goes back into the queue unless it was written, also when the writing is dropped half way. Writing a row again is writing
/// the same row.
struct Taken<'a> {
    inner: &'a Inner,
    entries: VecDeque<Entry>,
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        if self.entries.is_empty() {
            return;
        }
        // Before the queue is locked.
        let entries: Vec<Entry> = self.entries.drain(..).map(Entry::settled).collect();
        let dropped = self.inner.queue.put_back(entries.into_iter());
        self.inner.warn(dropped);
    }
}

impl fmt::Debug for AuditBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuditBuffer")
            .field("waiting", &self.waiting())
            .field("dropped", &self.dropped())
            .finish_non_exhaustive()
    }
}
