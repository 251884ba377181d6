//! Buffer of audit rows for a sink that may be slow or unavailable.

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

/// Number of waiting rows that triggers a write.
const BATCH: usize = 10;
/// Maximum time that a row waits before it is written.
const WAIT: Duration = Duration::from_secs(5);
/// Number of waiting rows at which new calls wait for the sink, and the minimum number of the newest rows that are kept while the sink fails.
const MOST: usize = 500;
/// Delay between a failed write and its retry. If the retry fails as well, the sink counts as failing.
const AGAIN: Duration = Duration::from_millis(200);
/// Maximum time that a call waits for a sink that has not failed. After that, the sink counts as failing, unless no write is in progress and the call
/// itself can write the rows.
const PATIENCE: Duration = Duration::from_secs(5);

/// A row, or the data from which the row is built when it is written, so that the call does not wait for that work.
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

    /// Builds the row and drops the call's context, so that the context does not stay in memory while the sink is unavailable.
    fn settled(self) -> Self {
        match self {
            Self::Row(row) => Self::Row(row),
            Self::Late(late) => Self::Row(Box::new(late.row())),
        }
    }
}

/// Buffer of audit rows, which are written when ten rows wait or after five seconds.
///
/// When 500 rows wait, new calls wait before they start until those rows are written: a slow sink slows calls down and loses no row. After two consecutive
/// failed writes, or when calls have waited for 5 seconds, new calls start at once until a write succeeds. Rows are dropped only during that time: at least
/// the newest 500 are kept, and dropped rows are counted and logged as a warning.
#[derive(Clone)]
pub struct AuditBuffer(Arc<Inner>);

struct Inner {
    sink: Arc<dyn AuditSink>,
    queue: Backlog<Entry>,
    /// Notified when a batch is full or a call waits.
    full: Notify,
    /// Locked during a write, so that rows are written in order.
    writing: tokio::sync::Mutex<()>,
    /// Whether a background task writes the rows.
    tended: AtomicBool,
    /// Whether `MOST` rows wait, so that new calls have to wait.
    crowded: AtomicBool,
    /// Wakes the calls that wait for the sink.
    room: Notify,
    /// Whether the sink counts as failing, so that no call waits for it.
    failing: AtomicBool,
}

impl AuditBuffer {
    pub(super) fn new(sink: Arc<dyn AuditSink>) -> Self {
        Self(Arc::new(Inner {
            sink: crate::store::shield::sink(sink),
            queue: Backlog::new(MOST),
            full: Notify::new(),
            writing: tokio::sync::Mutex::new(()),
            tended: AtomicBool::new(false),
            crowded: AtomicBool::new(false),
            room: Notify::new(),
            failing: AtomicBool::new(false),
        }))
    }

    /// Returns the number of rows that were dropped because the sink failed for too long.
    pub fn dropped(&self) -> u64 {
        self.0.queue.dropped()
    }

    /// Returns the number of rows that wait to be written.
    pub fn waiting(&self) -> usize {
        self.0.queue.len()
    }

    /// Writes all waiting rows. Call it before the program ends.
    ///
    /// On an error the rows stay in the buffer.
    pub async fn flush(&self) -> Result<(), StoreError> {
        self.0.flush().await
    }

    pub(crate) fn push(&self, entry: Entry) {
        let inner = &self.0;
        let delivers = !inner.failing.load(Ordering::Relaxed);
        let (waiting, dropped) = inner.queue.push(entry, delivers);
        inner.warn(dropped);
        if !inner.tended.load(Ordering::Relaxed) {
            self.tend();
        }
        if waiting == BATCH {
            inner.full.notify_one();
        }
        if waiting >= MOST && delivers {
            inner.crowded.store(true, Ordering::Relaxed);
        }
    }

    /// Returns whether a call has to [wait](Self::relieved) before it starts.
    #[inline]
    pub(crate) fn is_crowded(&self) -> bool {
        self.0.crowded.load(Ordering::Relaxed)
    }

    /// Waits until the sink has taken the waiting rows, or counts as failing.
    pub(crate) async fn relieved(&self) {
        let inner = &*self.0;
        if !inner.tended.load(Ordering::Relaxed) {
            // Without a runtime, no background task writes the rows, and there is no timer.
            if inner.flush().await.is_err() {
                inner.fails();
            }
            return;
        }
        let mut room = std::pin::pin!(inner.room.notified());
        // From here on the future is notified, even by a write that ends before the future is polled.
        room.as_mut().enable();
        if !self.is_crowded() {
            return;
        }
        inner.full.notify_one();
        if tokio::time::timeout(PATIENCE, room).await.is_ok() {
            return;
        }
        // If no write is in progress, the writer task belongs to a runtime that is not driven. The next row then starts a new task in this runtime.
        let is_idle = inner.writing.try_lock().is_ok();
        if is_idle {
            inner.tended.store(false, Ordering::Relaxed);
        }
        if !is_idle || inner.flush().await.is_err() {
            inner.fails();
        }
    }

    /// Starts the task that writes, if there is a runtime. The task ends with the buffer or with its runtime.
    fn tend(&self) {
        /// Clears `tended` when the task is dropped, so that a different runtime can start a new task.
        struct ClearWriterFlag(std::sync::Weak<Inner>);
        impl Drop for ClearWriterFlag {
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
        let untended = ClearWriterFlag(weak.clone());
        // Without a runtime, the task is dropped at once, which clears `tended`.
        env::spawn(async move {
            let _untended = untended;
            loop {
                let Some(inner) = weak.upgrade() else { break };
                // Rows that do not fill a batch are written after this wait.
                let _ = tokio::time::timeout(WAIT, inner.full.notified()).await;
                let mut flushed = inner.flush().await;
                if flushed.is_err() && !inner.failing.load(Ordering::Relaxed) {
                    // Many database errors are transient, and no row is dropped before the retry.
                    tokio::time::sleep(AGAIN).await;
                    flushed = inner.flush().await;
                }
                if let Err(error) = flushed {
                    inner.fails();
                    tracing::warn!(%error, waiting = inner.queue.len(), "audit rows could not be written and are retried");
                }
                if Arc::strong_count(&inner) == 1 {
                    break;
                }
            }
        });
    }
}

impl Inner {
    /// Marks the sink as failing until a write succeeds, so that no call waits for it.
    fn fails(&self) {
        self.failing.store(true, Ordering::Relaxed);
        self.relieve();
    }

    /// Wakes the calls that wait for the sink.
    fn relieve(&self) {
        self.crowded.store(false, Ordering::Relaxed);
        self.room.notify_waiters();
    }

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
            self.relieve();
            return Ok(());
        }
        let mut taken = Taken {
            inner: self,
            entries,
            delivered: !self.failing.load(Ordering::Relaxed),
        };
        let rows = taken.entries.iter().map(Entry::row).collect();
        self.sink.write(rows).await?;
        taken.entries.clear();
        self.failing.store(false, Ordering::Relaxed);
        self.relieve();
        Ok(())
    }
}

/// Entries that are being written. On drop, for example because the write is cancelled, entries that were not written return to the queue. Writing an
/// entry twice stores one row.
struct Taken<'a> {
    inner: &'a Inner,
    entries: VecDeque<Entry>,
    /// Whether the sink counted as working when the write began.
    delivered: bool,
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        if self.entries.is_empty() {
            return;
        }
        // Build the rows before `put_back` locks the queue.
        let entries: Vec<Entry> = self.entries.drain(..).map(Entry::settled).collect();
        let dropped = self
            .inner
            .queue
            .put_back(entries.into_iter(), self.delivered);
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
