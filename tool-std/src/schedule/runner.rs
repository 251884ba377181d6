//! The scheduler: claims due runs and drives them.

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures::future::{BoxFuture, Either, FutureExt as _, select};
use futures::stream::{FuturesUnordered, StreamExt as _};
use tool_core::store::{
    ScheduleStore, StoreError, TaskAttempt, TaskClaim, TaskOutcome, TaskRow, TaskRun, TaskUpdate,
    Timestamp,
};
use tool_core::{CancellationToken, ToolError};

use super::plan::plan;
use super::turn::DueTask;

/// The interval at which a scheduler looks for due tasks.
const TICK: Duration = Duration::from_secs(30);

/// The maximum number of runs that one scheduler drives at the same time.
const CONCURRENT: usize = 3;

/// How long a lease lasts after the claim of a run and after each extension.
const LEASE: Duration = Duration::from_mins(1);

/// The waits after the first, the second and each further failed attempt.
const BACKOFF: [Duration; 3] = [
    Duration::from_secs(30),
    Duration::from_mins(1),
    Duration::from_mins(5),
];

/// The number of failed attempts after which a task is switched off.
const MOST_ERRORS: u32 = 5;

/// The maximum number of times that one poll reads the ready tasks. Without a limit, a poll might not end: the store refuses claims by the clock of the
/// database, so if that clock is behind the clock of this process, a listed task can be refused each time.
const MOST_LOOKS: u32 = 4;

/// The end of a run that did not fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaskDone {
    /// The run has succeeded.
    Succeeded,
    /// The turn of the run waits, for example for an approval or for the client; the text is the reason. The host continues the turn like the turn of
    /// any other conversation.
    Waiting(String),
}

/// Drives the runs of tasks. Hosts implement this trait, usually with [`DueTask::drive`].
pub trait TaskRunner: Send + Sync + 'static {
    /// Drives one attempt of a run. If it returns an error, the attempt has failed and the run is attempted again later. If a process died during an
    /// earlier attempt, the run is attempted again with the same [`DueTask::conversation`], so the implementation has to continue what the earlier
    /// attempt began.
    ///
    /// The future is dropped if the lease was lost, for example because the task was removed.
    fn run<'a>(&'a self, task: &'a DueTask) -> BoxFuture<'a, Result<TaskDone, ToolError>>;
}

/// Runs the tasks of a store when they are due. Any number of schedulers in any number of processes can share one store: a run
/// is claimed by one scheduler at a time, and a run that has ended is not started again.
///
/// | rule | |
/// |---|---|
/// | a scheduler looks for due tasks | every 30 seconds ([`tick`](Self::tick)) |
/// | runs at the same time | 3 for each scheduler ([`concurrent`](Self::concurrent)), and one for each task |
/// | a failed attempt is repeated | after 30 seconds, 1 minute, and then 5 minutes, as the same run |
/// | a task is switched off | after 5 failed attempts without a success and without a change of the task; the run is then `failed` |
/// | a task is switched off during an attempt of its run | the attempt continues; if it fails or its process dies, the run ends as `failed`. So a run that was requested for a task that is off is attempted once |
/// | a task is changed while its run waits for its next attempt | the run ends as `failed`, unless its prompt, its schedule and its conversation stay the same |
/// | due times that no process has claimed in time | the last 5 run later, one after the other; each earlier one is a row with the state `skipped` and its reason, and after 99 rows one row covers all others |
/// | a process dies | its runs are attempted again when the lease ends ([`lease`](Self::lease)), which counts as a failed attempt |
#[derive(Clone)]
pub struct Scheduler {
    store: Arc<dyn ScheduleStore>,
    runner: Arc<dyn TaskRunner>,
    worker: String,
    tick: Duration,
    lease: Duration,
    concurrent: usize,
}

impl Scheduler {
    /// Creates a scheduler that claims the due runs of `store` and drives them with `runner`.
    pub fn new(store: impl ScheduleStore, runner: impl TaskRunner) -> Self {
        Self {
            store: Arc::new(store),
            runner: Arc::new(runner),
            worker: format!("process {}", std::process::id()),
            tick: TICK,
            lease: LEASE,
            concurrent: CONCURRENT,
        }
    }

    /// Sets the name of the process, for people who look at a claimed task; by default `process` and the process id.
    #[must_use]
    pub fn worker(mut self, name: impl Into<String>) -> Self {
        self.worker = name.into();
        self
    }

    /// Sets the interval at which the scheduler looks for due tasks; 30 seconds by default.
    #[must_use]
    pub fn tick(mut self, tick: Duration) -> Self {
        self.tick = tick;
        self
    }

    /// Sets how long the lease of a run lasts unless it is extended; 1 minute by default. A process extends its leases after each third of this time.
    #[must_use]
    pub fn lease(mut self, lease: Duration) -> Self {
        self.lease = lease;
        self
    }

    /// Sets the maximum number of runs that the scheduler drives at the same time; 3 by default, and at least 1.
    #[must_use]
    pub fn concurrent(mut self, runs: usize) -> Self {
        self.concurrent = runs.max(1);
        self
    }

    /// Runs due tasks until the token is cancelled, and then waits for the current runs. To stop sooner, drop the future: the runs are attempted again when
    /// their leases end.
    ///
    /// If the store fails, the error is logged, and due tasks are read again at the next tick or when a run ends.
    pub async fn run(&self, stop: CancellationToken) {
        let mut runs = FuturesUnordered::new();
        while !stop.is_cancelled() {
            self.claim_into(&mut runs).await;
            let is_full = runs.len() >= self.concurrent;
            let ended = async {
                match runs.next().await {
                    Some(()) => {}
                    None => std::future::pending().await,
                }
            };
            let tick = tokio::time::sleep(self.tick);
            let next = async {
                if is_full {
                    ended.await;
                } else {
                    select(pin!(ended), pin!(tick)).await;
                }
            };
            select(pin!(next), pin!(stop.cancelled())).await;
        }
        while runs.next().await.is_some() {}
    }

    /// Runs all tasks that are due now, and returns the number of attempts. It ends when no task is due and no run is active; a failed attempt is repeated
    /// only if its wait has passed by then. If the store fails, the error is logged, and this function ends when no run is active.
    ///
    /// A host that is woken by something else, such as a timer of its platform, calls this in place of [`run`](Self::run).
    pub async fn run_due(&self) -> usize {
        let (mut runs, mut attempts) = (FuturesUnordered::new(), 0);
        loop {
            attempts += self.claim_into(&mut runs).await;
            match runs.next().await {
                Some(()) => attempts += 1,
                None => return attempts,
            }
        }
    }

    /// Claims due runs, at most as many as may run in addition to the current runs, and adds them to `runs`. Returns how many of the current runs
    /// have ended meanwhile.
    async fn claim_into<'s>(&'s self, runs: &mut FuturesUnordered<BoxFuture<'s, ()>>) -> usize {
        let room = self.concurrent.saturating_sub(runs.len());
        let (claimed, ended) = beside(self.claim(room), runs).await;
        match claimed {
            Ok(claimed) => {
                runs.extend(
                    claimed
                        .into_iter()
                        .map(|(row, run)| -> BoxFuture<'s, ()> { Box::pin(self.drive(row, run)) }),
                );
            }
            Err(error) => tracing::error!(%error, "the scheduler cannot claim due runs"),
        }
        ended
    }

    /// Claims runs. If the store fails after some claims, these claims are returned, because their leases have begun.
    async fn claim(&self, room: usize) -> Result<Vec<(TaskRow, TaskRun)>, StoreError> {
        let mut claimed = Vec::new();
        match self.claim_rows(&mut claimed, room).await {
            Err(error) if !claimed.is_empty() => {
                tracing::error!(%error, "the scheduler cannot claim more runs");
            }
            ended => ended?,
        }
        Ok(claimed)
    }

    async fn claim_rows(
        &self,
        claimed: &mut Vec<(TaskRow, TaskRun)>,
        room: usize,
    ) -> Result<(), StoreError> {
        // Other processes may claim the same rows first, so more rows are read than can be claimed.
        let limit = u32::try_from(room.saturating_mul(8)).unwrap_or(u32::MAX);
        for _ in 0..MOST_LOOKS {
            let ready = self.store.ready_tasks(Timestamp::now(), limit).await?;
            let mut changed = false;
            for row in ready {
                if claimed.len() == room {
                    break;
                }
                // A lease begins when its run is claimed: after a slow query, a lease from the time of the query could have ended already.
                if let Some(claim) = self.claim_of(&row, Timestamp::now()).await? {
                    changed = true;
                    claimed.extend(self.store.claim_task(claim).await?);
                }
            }
            // If the run of a due time has already ended, its claim only advances the task to the next due time, so the tasks are read again.
            if !changed || claimed.len() == room {
                break;
            }
        }
        Ok(())
    }

    /// Returns the claim of a ready task; `None` if no run is due. A task whose schedule cannot be read is switched off.
    async fn claim_of(
        &self,
        row: &TaskRow,
        at: Timestamp,
    ) -> Result<Option<TaskClaim>, StoreError> {
        let plan = match plan(row, at) {
            Ok(Some(plan)) => plan,
            Ok(None) => return Ok(None),
            Err(error) => {
                tracing::error!(task = %row.id, %error, "a task is switched off, because its schedule cannot be read");
                let update = TaskUpdate {
                    definition: row.definition.clone(),
                    enabled: false,
                    due: None,
                    error: Some(error.to_string()),
                    at,
                };
                // If another process changed the task, the next poll reads it again.
                let _ = self.store.update_task(&row.id, update, row.version).await;
                return Ok(None);
            }
        };
        Ok(Some(TaskClaim {
            id: row.id.clone(),
            version: row.version,
            due: plan.due,
            conversation: super::turn::conversation_of(row, plan.due),
            skipped: plan.skipped,
            next: plan.next,
            worker: self.worker.clone(),
            lease: self.lease,
            most_errors: MOST_ERRORS,
            at,
        }))
    }

    /// Drives one attempt of a claimed run, and stores its end.
    async fn drive(&self, row: TaskRow, run: TaskRun) {
        let token = row.token.clone().unwrap_or_default();
        let errors = row.errors;
        let task = DueTask::new(row, run);
        let id = task.row().id.clone();
        let outcome = {
            let body = AssertUnwindSafe(self.runner.run(&task)).catch_unwind();
            let lost = self.extend(&task, &token);
            match select(pin!(body), pin!(lost)).await {
                Either::Left((Ok(done), _)) => done,
                Either::Left((Err(_), _)) => Err(ToolError::new("the runner of the task panicked")),
                Either::Right(((), _)) => {
                    tracing::warn!(task = %id, due = task.due().as_millis(), "a run was dropped, because its lease was lost");
                    return;
                }
            }
        };
        let outcome = match outcome {
            Ok(TaskDone::Succeeded) => TaskOutcome::Succeeded,
            Ok(TaskDone::Waiting(reason)) => TaskOutcome::Waiting(reason),
            Err(error) => {
                tracing::warn!(task = %id, error = error.operator_text(), "an attempt of a task failed");
                TaskOutcome::Failed {
                    error: error.model_text(),
                    retry: backoff(errors),
                    most_errors: MOST_ERRORS,
                }
            }
        };
        let at = Timestamp::now();
        let ended = self
            .store
            .end_task_attempt(&id, &token, TaskAttempt { outcome, at });
        if let Err(error) = ended.await {
            // The run is attempted again when the lease ends.
            tracing::error!(task = %id, %error, "the end of a run cannot be stored");
        }
    }

    /// Extends the lease of a run after each third of its duration. Completes when the lease is lost.
    async fn extend(&self, task: &DueTask, token: &str) {
        loop {
            tokio::time::sleep(self.lease / 3).await;
            let at = Timestamp::now();
            let extended = self
                .store
                .extend_task(&task.row().id, token, self.lease, at);
            match extended.await {
                Ok(true) => {}
                Ok(false) => return,
                Err(error) => tracing::warn!(%error, "the lease of a run cannot be extended"),
            }
        }
    }
}

/// Waits for `work`, and polls the runs meanwhile, because `work` may wait for an open transaction of one of the runs. Returns how many runs have
/// ended.
async fn beside<T>(
    work: impl Future<Output = T>,
    runs: &mut FuturesUnordered<BoxFuture<'_, ()>>,
) -> (T, usize) {
    let (mut work, mut ended) = (pin!(work), 0);
    while !runs.is_empty() {
        match select(work.as_mut(), runs.next()).await {
            Either::Left((done, _)) => return (done, ended),
            Either::Right(_) => ended += 1,
        }
    }
    (work.await, ended)
}

/// Returns the wait after a failed attempt, if the task had this number of errors before.
fn backoff(errors: u32) -> Duration {
    let last = BACKOFF.len() - 1;
    let wait = usize::try_from(errors).map_or(last, |errors| errors.min(last));
    BACKOFF[wait]
}

impl fmt::Debug for Scheduler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scheduler")
            .field("worker", &self.worker)
            .field("tick", &self.tick)
            .field("lease", &self.lease)
            .field("concurrent", &self.concurrent)
            .finish_non_exhaustive()
    }
}
