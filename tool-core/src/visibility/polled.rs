//! State in a store that each process polls: the age of the last read, and the task that reads.

use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use futures::future::{BoxFuture, Either, select};

use crate::env;
use crate::store::StoreError;

/// The longest pause between two reads of the polling task. A change that the store reports ends the pause.
const POLL: Duration = Duration::from_millis(250);
/// If the last read is older than this, a call reads the store before the policy decides on the call.
const FRESH: Duration = Duration::from_millis(500);
/// If the last read is older than this, a call of a tool that is not read-only is refused.
const STALE: Duration = Duration::from_secs(1);
/// Timeout of a read.
const PATIENCE: Duration = Duration::from_secs(1);

/// State of a process that is updated from a store.
pub(super) trait Polled: Send + Sync + Sized + 'static {
    /// The name of the state in logs and errors, such as `switches`.
    const WHAT: &'static str;

    fn poller(&self) -> &Poller;

    /// Reads the changes since the last read.
    fn read(&self) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Completes when the store reports that the state has changed. The default implementation is for stores that do not report changes.
    fn changed(&self) -> BoxFuture<'static, Result<(), StoreError>> {
        Box::pin(std::future::pending())
    }
}

/// Reads the store now.
pub(super) async fn refresh<T: Polled>(state: &T) -> Result<(), StoreError> {
    read_since(state, env::monotonic()).await
}

/// Waits for a successful read that began at `since` or later.
async fn read_since<T: Polled>(state: &T, since: Instant) -> Result<(), StoreError> {
    let poller = state.poller();
    let read = async {
        let _reading = poller.reading.lock().await;
        if poller.reads().good.is_some_and(|good| good >= since) {
            return Ok(());
        }
        let began = env::monotonic();
        state.read().await?;
        poller.read_began(began, T::WHAT);
        Ok(())
    };
    let done = match tokio::time::timeout(PATIENCE, read).await {
        Ok(done) => done,
        Err(_) => Err(StoreError::Unavailable(
            format!(
                "the {} could not be read within {} s",
                T::WHAT,
                PATIENCE.as_secs()
            )
            .into(),
        )),
    };
    if let Err(error) = &done {
        poller.read_failed(error, T::WHAT);
    }
    done
}

/// Reads the store if the last read is too old to decide on a call. If the read fails, the last known state applies.
pub(super) async fn freshen<T: Polled>(state: &Arc<T>) {
    let (now, reads) = (env::monotonic(), state.poller().reads());
    let is_within =
        |at: Option<Instant>, span| at.is_some_and(|at| now.saturating_duration_since(at) < span);
    poll(state);
    // While the store fails, it is read only as often as it is polled, not once per call.
    if !is_within(reads.good, FRESH) && !is_within(reads.failed, POLL) {
        // The read logs a failure.
        let _ = read_since(&**state, now).await;
    }
}

/// Starts the task that polls the store, unless the task runs already or there is no runtime. The task ends when the state is dropped.
pub(super) fn poll<T: Polled>(state: &Arc<T>) {
    /// Clears `is_polled` when the task ends, so that a different runtime can start a new one.
    struct Unpolled<T: Polled>(Weak<T>);
    impl<T: Polled> Drop for Unpolled<T> {
        fn drop(&mut self) {
            if let Some(state) = self.0.upgrade() {
                state.poller().is_polled.store(false, Ordering::Relaxed);
            }
        }
    }
    if state.poller().is_polled.swap(true, Ordering::Relaxed) {
        return;
    }
    let weak = Arc::downgrade(state);
    let unpolled = Unpolled(weak.clone());
    env::spawn(async move {
        let _unpolled = unpolled;
        loop {
            let Some(state) = weak.upgrade() else { break };
            let changed = state.changed();
            drop(state);
            let is_early = wake(changed).await;
            let Some(state) = weak.upgrade() else { break };
            // The read logs a failure.
            if refresh(&*state).await.is_err() && is_early {
                // A reported change began this read early. A failing store must not be read more often than it is polled.
                tokio::time::sleep(POLL).await;
            }
        }
    });
}

/// Waits until the next read is due: at the latest after [`POLL`], and earlier if the store reports a change. Returns whether the store reported
/// a change.
async fn wake(changed: BoxFuture<'static, Result<(), StoreError>>) -> bool {
    let pause = tokio::time::sleep(POLL);
    match select(pin!(pause), changed).await {
        Either::Left(_) => false,
        Either::Right((Ok(()), _)) => true,
        // The store cannot report changes.
        Either::Right((Err(_), pause)) => {
            pause.await;
            false
        }
    }
}

/// The times of the last reads of a store, and whether a read or the polling task runs.
#[derive(Default)]
pub(super) struct Poller {
    /// When the last successful read began, and when the last read failed.
    reads: Mutex<Reads>,
    /// Locked while the store is read, so that waiting callers share one read.
    reading: tokio::sync::Mutex<()>,
    /// Whether a background task reads the store.
    is_polled: AtomicBool,
}

#[derive(Clone, Copy, Default)]
struct Reads {
    good: Option<Instant>,
    failed: Option<Instant>,
}

impl Poller {
    fn reads(&self) -> Reads {
        *self.reads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether no read of the store has succeeded yet.
    pub(super) fn is_new(&self) -> bool {
        self.reads().good.is_none()
    }

    /// Returns whether the last read is too old for a call of a tool that is not read-only.
    pub(super) fn is_stale(&self) -> bool {
        let good = self.reads().good;
        good.is_none_or(|good| env::elapsed(good) > STALE)
    }

    fn read_began(&self, began: Instant, what: &str) {
        let mut reads = self.reads.lock().unwrap_or_else(PoisonError::into_inner);
        let failed = reads.failed.take();
        reads.good = Some(began);
        drop(reads);
        if failed.is_some() {
            tracing::info!("the stored {what} can be read again");
        }
    }

    fn read_failed(&self, error: &StoreError, what: &str) {
        let mut reads = self.reads.lock().unwrap_or_else(PoisonError::into_inner);
        let failed = reads.failed.replace(env::monotonic());
        drop(reads);
        if failed.is_none() {
            tracing::error!(
                %error,
                "the stored {what} cannot be read: the last known ones apply, and after a second calls of tools that are not read-only are refused"
            );
        }
    }
}
