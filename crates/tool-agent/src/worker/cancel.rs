//! The cancellation of a queued thread, in any state.

use std::time::Duration;

use tool_core::store::{RunId, ThreadId, Timestamp, WorkOutcome, WorkRow, WorkState};
use tool_core::turn::Outcome;
use tool_store::env;

use super::claim::Claim;
use super::error::CancelError;
use super::{Inner, Worker};

/// The pause between two attempts to cancel a thread.
const LOOK: Duration = Duration::from_millis(50);

impl Worker {
    /// Cancels the work of a thread: a thread that is queued or waits ends with the cause [`Done`](tool_core::store::WorkCause::Done), and an active
    /// run stops, also in another process. The conversation is cancelled as [`AgentRuntime::cancel`](crate::runtime::AgentRuntime::cancel) describes.
    /// A message that is stored while an active run stops is answered afterwards. Returns false if the thread has no row in the queue.
    ///
    /// If the process of an active run is dead, this waits for the end of its lease.
    ///
    /// # Errors
    ///
    /// Fails if a run has not stopped after three leases, if the context of the thread cannot be built, and if the runtime or the queue fails.
    pub async fn cancel(&self, thread: &ThreadId) -> Result<bool, CancelError> {
        let (inner, began) = (&self.0, env::monotonic());
        let store = inner.queue.store();
        // The run that was stopped, and the token of the claim that its driver had.
        let mut stopped: Option<(RunId, Option<String>)> = None;
        while env::elapsed(began) < inner.lease * 3 {
            let Some(row) = store.work(thread).await? else {
                return Ok(false);
            };
            if let Some((run, token)) = &stopped
                && row.token != *token
                && inner.runtime.has_stopped(run).await?
            {
                // The thread has ended, or was queued again for a message that was stored in the meantime.
                return Ok(true);
            }
            match row.state {
                WorkState::Ended => return Ok(true),
                WorkState::Claimed => {
                    if let Some(run) = inner.runtime.stop(thread).await? {
                        stopped = Some((run, row.token));
                    }
                }
                _ => {
                    let (now, at) = (Duration::ZERO, Timestamp::now());
                    store.wake_work(thread, now, at).await?;
                }
            }
            let started = env::monotonic();
            let claim = inner.new_claim("a cancellation");
            let claimed = store.claim_thread(thread, claim).await?.claimed.pop();
            if let Some(row) = claimed {
                let claim = Claim::new(store, &row, started, inner.lease);
                if inner.settle(&row, &claim).await? {
                    return Ok(true);
                }
            }
            tokio::time::sleep(LOOK).await;
        }
        Err(CancelError::Active)
    }
}

impl Inner {
    /// Cancels the conversation of a claimed thread and releases it. Returns false if another process drives it or the claim is lost.
    async fn settle(&self, row: &WorkRow, claim: &Claim) -> Result<bool, CancelError> {
        let cx = match self.context(row).await {
            Ok(cx) => cx,
            Err(outcome) => {
                claim.release(outcome).await;
                return Err(CancelError::Context);
            }
        };
        let cancelled = claim.during(self.runtime.cancel(&row.agent.agent, &cx));
        match cancelled.await {
            None => Ok(false),
            Some(Err(error)) => {
                claim.release(self.failed(row)).await;
                Err(error.into())
            }
            Some(Ok(Outcome::Busy(_))) => {
                claim.release(WorkOutcome::Again(self.poll)).await;
                Ok(false)
            }
            Some(Ok(_)) => {
                claim.release(WorkOutcome::Done).await;
                Ok(true)
            }
        }
    }
}
