//! One step of a thread, in a closure whose result is journaled.

use restate_sdk::errors::HandlerError;
use restate_sdk::serde::Json;
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;
use tool_agent::worker::{SteppedThread, TakenThread, ThreadStep, Worker};
use tool_core::store::{StoreError, ThreadId, Timestamp, WorkRow, WorkState};

/// The pause in milliseconds before the next attempt to take a thread that another driver has claimed.
const PAUSE: u64 = 500;

/// The result of a step, which is journaled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Done {
    /// The message with this sequence number is stored, with the results of its calls.
    Step(u64),
    /// The thread waits, or has no work left.
    End,
    /// The thread has to be driven again after this number of milliseconds.
    Later(u64),
}

/// The driver of a thread in one attempt of an invocation.
pub(crate) struct Driver {
    worker: Worker,
    thread: ThreadId,
    invocation: String,
    taken: Mutex<Option<Box<SteppedThread>>>,
}

impl Driver {
    pub(crate) fn new(worker: &Worker, thread: ThreadId, invocation: &str) -> Self {
        Self {
            worker: worker.clone(),
            thread,
            invocation: invocation.to_owned(),
            taken: Mutex::new(None),
        }
    }

    /// Makes the step after the message with a sequence number. Fails if the database does not answer.
    pub(crate) async fn step(&self, after: u64) -> Result<Json<Done>, StoreError> {
        let mut taken = self.taken.lock().await;
        let mut stepped = match taken.take() {
            Some(stepped) => stepped,
            None => match self.worker.take(&self.thread, &self.invocation).await? {
                TakenThread::Claimed(stepped) => stepped,
                TakenThread::Idle(row) => {
                    return Ok(Json(row.map_or(Done::End, |row| after_row(&row))));
                }
            },
        };
        Ok(Json(match stepped.step(after).await {
            ThreadStep::Stored(seq) => {
                *taken = Some(stepped);
                Done::Step(seq)
            }
            ThreadStep::Released(row) => after_row(&row),
            ThreadStep::Lost => Done::Later(PAUSE),
        }))
    }
}

/// Returns the result for a thread that this driver could not claim or has released.
fn after_row(row: &WorkRow) -> Done {
    match row.state {
        WorkState::Queued | WorkState::Claimed => {
            let ready = row.ready.map_or(0, Timestamp::as_millis);
            let left = ready.saturating_sub(Timestamp::now().as_millis());
            // Another driver may extend its claim, so the row is read again after a pause.
            let least = if row.state == WorkState::Claimed {
                PAUSE
            } else {
                0
            };
            Done::Later(u64::try_from(left).unwrap_or_default().max(least))
        }
        _ => Done::End,
    }
}

/// Returns the error of a closure, which makes the engine repeat it. Other error conversions of the SDK do the same, but without the name.
pub(crate) fn failed(error: impl std::error::Error + Send + Sync + 'static) -> HandlerError {
    tracing::warn!(%error, "the step of a thread failed and is repeated");
    HandlerError::from(error)
}
