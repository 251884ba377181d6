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
/// Rows at which calls wait for the sink, and the most that are kept while it fails.
const MOST: usize = 500;
/// How long after a write that failed the next one is made, before the sink counts as one that fails.
const AGAIN: Duration = Duration::from_millis(200);
/// A call waits no longer than this for a sink that has not failed. Then the sink counts as one that fails.
const PATIENCE: Duration = Duration::from_secs(5);

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
/// Where 500 rows wait, the next calls wait before they begin, until those are written: a slow sink slows calls down and loses no row. After
/// two writes in a row that failed, and where calls have waited for 5 seconds, they wait no longer until a write succeeds. Only then rows are
/// dropped: at least the newest 500 are kept, and what is dropped is counted and warned of.
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
    /// As many rows wait as may wait.
    crowded: AtomicBool,
    /// Wakes the calls that wait for the sink.
    room: Notify,
    /// The last write has failed, or was waited for in vain.
    failing: AtomicBool,
}

impl AuditBuffer {
    pub(super) fn new(sink: Arc<dyn AuditSink>) -> Self {
        Self(Arc::new(Inner {
            sink: crate::gate::shield::sink(sink),
            queue: Backlog::new(MOST),
            full: Notify::new(),
            writing: tokio::sync::Mutex::new(()),
            tended: AtomicBool::new(false),
            crowded: AtomicBool::new(false),
            room: Notify::new(),
            failing: AtomicBool::new(false),
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

    /// Whether a call has to [wait](Self::relieved) before it begins.
    #[inline]
    pub(crate) fn is_crowded(&self) -> bool {
        self.0.crowded.load(Ordering::Relaxed)
    }

    /// Waits until the sink has taken what waits, or has failed.
    pub(crate) async fn relieved(&self) {
        let inner = &*self.0;
        if !inner.tended.load(Ordering::Relaxed) {
            // Without a runtime no task writes, and there is no timer.
            if inner.flush().await.is_err() {
                inner.fails();
            }
            return;
        }
        let mut room = std::pin::pin!(inner.room.notified());
        // From here on it is woken, also by a write that ends before it waits.
        room.as_mut().enable();
        if !self.is_crowded() {
            return;
        }
        inner.full.notify_one();
        if tokio::time::timeout(PATIENCE, room).await.is_ok() {
            return;
        }
        // Where no write is under way, the task belongs to a runtime that is not driven: the next row starts one in this runtime.
        let is_idle = inner.writing.try_lock().is_ok();
        if is_idle {
            inner.tended.store(false, Ordering::Relaxed);
        }
        if !is_idle || inner.flush().await.is_err() {
            inner.fails();
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
                let mut flushed = inner.flush().await;
                if flushed.is_err() && !inner.failing.load(Ordering::Relaxed) {
                    // Many errors of a database are gone a moment later, and until then no row is dropped.
                    tokio::time::sleep(AGAIN).await;
                    flushed = inner.flush().await;
                }
                if let Err(error) = flushed {
                    inner.fails();
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
    /// The sink counts as one that fails until a write succeeds, so that no call waits for it.
    fn fails(&self) {
        self.failing.store(true, Ordering::Relaxed);
        self.relieve();
    }

    /// Lets the calls go on that wait.
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

/// What goes back into the queue unless it was written, also when the writing is dropped half way. Writing a row again is writing
/// the same row.
struct Taken<'a> {
    inner: &'a Inner,
    entries: VecDeque<Entry>,
    /// The write before this one has not failed.
    delivered: bool,
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        if self.entries.is_empty() {
            return;
        }
        // Before the queue is locked.
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
