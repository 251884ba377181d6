//! The claim of a worker on a thread.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::time::{Duration, Instant};

use tool_core::CancellationToken;
use tool_core::store::{StoreError, ThreadId, Timestamp, WorkOutcome, WorkRow, WorkStore};
use tool_store::env;

/// A claim of a thread. One task extends the claim while another task drives the thread.
pub(super) struct Claim {
    store: Arc<dyn WorkStore>,
    thread: ThreadId,
    token: String,
    lease: Duration,
    /// The end of the lease by the monotonic clock of this process, which is not later than its end by the clock of the store.
    until: Mutex<Instant>,
    /// Cancelled when the claim is lost.
    lost: CancellationToken,
    /// Cancelled when the drive has ended and the claim needs no more extensions.
    over: CancellationToken,
}

impl Claim {
    /// Creates the claim of a row. `began` is a time before the request to the store.
    pub(super) fn new(
        store: &Arc<dyn WorkStore>,
        row: &WorkRow,
        began: Instant,
        lease: Duration,
    ) -> Arc<Self> {
        Arc::new(Self {
            store: Arc::clone(store),
            thread: row.thread.clone(),
            token: row.token.clone().unwrap_or_default(),
            lease,
            until: Mutex::new(began + lease),
            lost: CancellationToken::new(),
            over: CancellationToken::new(),
        })
    }

    /// Returns whether the lease is valid by the clock of this process and the claim is not known to be lost.
    pub(super) fn holds(&self) -> bool {
        let until = *self.until.lock().unwrap_or_else(PoisonError::into_inner);
        !self.lost.is_cancelled() && env::monotonic() < until
    }

    fn left(&self) -> Duration {
        let until = *self.until.lock().unwrap_or_else(PoisonError::into_inner);
        until.saturating_duration_since(env::monotonic())
    }

    /// Extends the lease after each third of its length, until the drive has ended or the claim is lost. An error of the store, or a late answer,
    /// counts as the loss of the claim.
    pub(super) async fn keep(&self) {
        loop {
            tokio::select! {
                biased;
                () = self.over.cancelled() => return,
                () = tokio::time::sleep(self.lease / 3) => {}
            }
            let began = env::monotonic();
            let at = Timestamp::now();
            let extended = self
                .store
                .extend_work(&self.thread, &self.token, self.lease, at);
            let why = match tokio::time::timeout(self.left(), extended).await {
                Ok(Ok(Some(_))) if self.holds() => {
                    *self.until.lock().unwrap_or_else(PoisonError::into_inner) = began + self.lease;
                    continue;
                }
                Ok(Ok(_)) => "another worker has claimed it, or its lease has expired".to_owned(),
                Ok(Err(error)) => error.to_string(),
                Err(_) => "the store did not answer before the end of the lease".to_owned(),
            };
            if !self.over.is_cancelled() {
                tracing::warn!(thread = %self.thread, why, "the claim of a thread is lost");
            }
            self.lost.cancel();
            return;
        }
    }

    /// Runs a future while the claim is valid. Returns `None`, and drops the future, if the claim is lost.
    ///
    /// The claim is checked before each poll of the future, so that a process that was suspended for longer than the lease does not continue.
    pub(super) async fn during<R>(&self, body: impl Future<Output = R>) -> Option<R> {
        let mut body = pin!(body);
        let mut lost = pin!(self.lost.cancelled());
        poll_fn(|cx| {
            if lost.as_mut().poll(cx).is_ready() || !self.holds() {
                self.lost.cancel();
                return Poll::Ready(None);
            }
            body.as_mut().poll(cx).map(Some)
        })
        .await
    }

    /// Ends the claim. Returns the row; `None` if the claim was lost or the store fails.
    pub(super) async fn release(&self, outcome: WorkOutcome) -> Option<WorkRow> {
        self.over.cancel();
        for last in [false, true] {
            let at = Timestamp::now();
            let released = self
                .store
                .release_work(&self.thread, &self.token, outcome, at);
            match released.await {
                Err(StoreError::Unavailable(_)) if !last => {}
                // Another worker claims the thread when the lease has expired.
                Err(error) => {
                    tracing::warn!(%error, thread = %self.thread, "a thread could not be released");
                    return None;
                }
                Ok(row) => return row,
            }
        }
        None
    }

    /// Stops the extension of the claim, and does not release the thread.
    pub(super) fn forget(&self) {
        self.over.cancel();
    }
}
