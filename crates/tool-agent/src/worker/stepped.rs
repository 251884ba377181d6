//! Threads that are driven step by step, for an engine that decides when each step runs.

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use tool_core::store::{StoreError, ThreadId, Timestamp, WorkOutcome, WorkRow, WorkState};
use tool_store::env;

use super::Worker;
use super::claim::Claim;
use crate::runtime::Barrier;

/// The result of [`Worker::take`].
#[derive(Debug)]
pub enum TakenThread {
    /// The caller drives the thread.
    Claimed(Box<SteppedThread>),
    /// The thread has nothing to do now. The row states when it becomes ready, and whether another driver has it; `None` if the thread has no row in
    /// the queue.
    Idle(Option<Box<WorkRow>>),
}

/// A claimed thread that is driven step by step. If it is dropped, its driver can [take](Worker::take) it again until the lease expires.
pub struct SteppedThread {
    row: WorkRow,
    claim: Arc<Claim>,
    drive: BoxFuture<'static, WorkOutcome>,
    barrier: Arc<Barrier>,
    /// The sequence number of the last message of the model, if the run waits at the barrier.
    waits_after: Option<u64>,
    ended: bool,
}

/// The result of [`SteppedThread::step`].
#[derive(Debug)]
pub enum ThreadStep {
    /// The message with this sequence number is stored, with the results of all its calls. The run continues with the next step.
    Stored(u64),
    /// The run ended or waits, and the thread was released with this row. If the row is queued, the thread has to be taken again when it is
    /// [ready](WorkRow::ready).
    Released(Box<WorkRow>),
    /// The claim is lost, for example because its lease has expired, the store did not confirm the release, or the thread was released before.
    Lost,
}

impl Worker {
    /// Claims a thread for a driver in an engine that decides when each step runs, such as a durable execution engine. `driver` is a unique name,
    /// such as the id of the engine's invocation: if the process of a driver dies, a driver with the same name continues with the same claim until
    /// the lease expires.
    ///
    /// # Errors
    ///
    /// Fails if the store fails.
    pub async fn take(&self, thread: &ThreadId, driver: &str) -> Result<TakenThread, StoreError> {
        let (inner, began) = (&self.0, env::monotonic());
        let store = inner.queue.store();
        let row = store.work(thread).await?;
        let own = row
            .as_ref()
            .filter(|row| row.state == WorkState::Claimed && row.worker.as_deref() == Some(driver));
        let kept = match own.and_then(|row| row.token.as_deref()) {
            Some(token) => {
                let at = Timestamp::now();
                store.extend_work(thread, token, inner.lease, at).await?
            }
            None => None,
        };
        if let Some(row) = kept {
            return Ok(self.stepped(row, began));
        }
        let claim = inner.new_claim(driver);
        let mut done = store.claim_thread(thread, claim).await?;
        if let Some(row) = done.claimed.pop() {
            return Ok(self.stepped(row, began));
        }
        if let Some(row) = done.ended.pop() {
            tracing::error!(thread = %row.thread, agent = row.agent.agent, recoveries = row.recoveries, "a thread ended, because the processes that drove it died");
            return Ok(TakenThread::Idle(Some(Box::new(row))));
        }
        Ok(TakenThread::Idle(row.map(Box::new)))
    }

    fn stepped(&self, row: WorkRow, began: std::time::Instant) -> TakenThread {
        let inner = Arc::clone(&self.0);
        let claim = Claim::new(inner.queue.store(), &row, began, inner.lease);
        let keeper = Arc::clone(&claim);
        env::spawn(async move { keeper.keep().await });
        let barrier = Arc::new(Barrier::default());
        let drive = {
            let (row, barrier) = (row.clone(), Arc::clone(&barrier));
            async move {
                let outcome = AssertUnwindSafe(inner.outcome(&row, Some(&barrier))).catch_unwind();
                outcome.await.unwrap_or_else(|_| {
                    tracing::error!(thread = %row.thread, "the drive of a thread panicked");
                    inner.failed(&row)
                })
            }
        };
        TakenThread::Claimed(Box::new(SteppedThread {
            row,
            claim,
            drive: Box::pin(drive),
            barrier,
            waits_after: None,
            ended: false,
        }))
    }
}

impl SteppedThread {
    /// Returns the row of the thread when it was claimed.
    pub fn row(&self) -> &WorkRow {
        &self.row
    }

    /// Makes one step: a request to the model and the calls of its message, whose results are stored. `after` is the sequence number that the last
    /// step returned, or 0: if a process stored the next step and died before it reported the step, the stored step is returned and not repeated.
    ///
    /// The first step of a run also finishes the open calls of the last message. When the run ends or waits, the thread is released; do not call this
    /// again after that.
    pub async fn step(&mut self, after: u64) -> ThreadStep {
        if self.ended {
            return ThreadStep::Lost;
        }
        let outcome = self.claim.during(async {
            loop {
                if let Some(last) = self.waits_after {
                    if last > after {
                        return Ok(last);
                    }
                    self.waits_after = None;
                    self.barrier.pass();
                }
                tokio::select! {
                    biased;
                    outcome = &mut self.drive => return Err(outcome),
                    last = self.barrier.arrival() => self.waits_after = Some(last),
                }
            }
        });
        match outcome.await {
            Some(Ok(last)) => return ThreadStep::Stored(last),
            Some(Err(outcome)) => {
                self.ended = true;
                if let Some(row) = self.claim.release(outcome).await {
                    return ThreadStep::Released(Box::new(row));
                }
            }
            None => self.ended = true,
        }
        ThreadStep::Lost
    }
}

impl Drop for SteppedThread {
    fn drop(&mut self) {
        self.claim.forget();
    }
}

impl fmt::Debug for SteppedThread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SteppedThread")
            .field("thread", &self.row.thread)
            .field("waits_after", &self.waits_after)
            .finish_non_exhaustive()
    }
}
