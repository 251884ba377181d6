//! A scheduled task as it is stored, and its state transitions.

use std::time::Duration;

use super::{
    NewTask, TaskAttempt, TaskClaim, TaskDefinition, TaskId, TaskOutcome, TaskRunState, TaskTiming,
    TaskUpdate,
};
use crate::env;
use crate::store::{StoreError, Timestamp, Workspace};

/// A scheduled task as it is stored.
///
/// Its methods include the state transitions of a row, for authors of a store: read the row, apply the transition and write the row back, in one
/// transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TaskRow {
    /// The id of the task.
    pub id: TaskId,
    /// The user on whose behalf the task runs.
    pub principal: Option<String>,
    /// The definition of the task.
    pub definition: TaskDefinition,
    /// Whether the task runs when it is due.
    pub enabled: bool,
    /// The next due time that no process has claimed.
    pub due: Option<Timestamp>,
    /// The time of a run that a person or a model has requested, and that no process has claimed.
    pub requested: Option<Timestamp>,
    /// The due time of the current run, or the time at which the run was requested.
    pub running: Option<Timestamp>,
    /// The token of the process that has claimed the current run; `None` while the run waits for its next attempt.
    pub token: Option<String>,
    /// The name of the process that has claimed the current run.
    pub worker: Option<String>,
    /// The number of attempts that have failed since the last attempt that did not fail, or since the last update of the task.
    pub errors: u32,
    /// The error of the last failed attempt, or [the error of the last update](TaskUpdate::error). An attempt that does not fail removes it.
    pub last_error: Option<String>,
    /// When a process may claim the task: the due time, the time of a requested run, the time of the next attempt, or the end of the lease of a
    /// claimed run.
    pub ready: Option<Timestamp>,
    /// The version of the row: 1 for a new row, and increased by each change of the row except [`extend`](Self::extend).
    pub version: u64,
    /// When the task was created.
    pub created: Timestamp,
    /// When the version of the row last changed.
    pub updated: Timestamp,
}

/// The result of a state transition of a task, for authors of a store: the changes to write in addition to the row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskStep {
    /// The due time, the new state and the reason of the current run, if the transition changes its row.
    pub run: Option<(Timestamp, TaskRunState, Option<String>)>,
    /// Whether the task is removed.
    pub removed: bool,
}

impl TaskRow {
    /// Creates the row of a new task.
    pub fn new(new: NewTask) -> Self {
        let mut row = Self {
            id: new.id,
            principal: new.principal,
            definition: new.definition,
            enabled: new.enabled,
            due: new.due,
            requested: None,
            running: None,
            token: None,
            worker: None,
            errors: 0,
            last_error: None,
            ready: None,
            version: 1,
            created: new.at,
            updated: new.at,
        };
        row.ready = row.next_ready();
        row
    }

    /// Returns the workspace of the task.
    pub fn workspace(&self) -> &Workspace {
        self.id.workspace()
    }

    /// Returns when a task without a current run may be claimed.
    fn next_ready(&self) -> Option<Timestamp> {
        let due = self.due.filter(|_| self.enabled);
        match (self.requested, due) {
            (Some(requested), Some(due)) => Some(requested.min(due)),
            (requested, due) => requested.or(due),
        }
    }

    /// Fails with `Stale` if the row has a different version than the caller has read.
    pub fn check(&self, expected: u64) -> Result<(), StoreError> {
        if self.version == expected {
            return Ok(());
        }
        Err(StoreError::Stale(format!(
            "the {} was changed since it was read: read it again",
            self.id
        )))
    }

    fn changed(&mut self, at: Timestamp) {
        self.version += 1;
        self.updated = at;
    }

    fn end_run(&mut self) {
        (self.running, self.token, self.worker) = (None, None, None);
        self.ready = self.next_ready();
    }

    /// Returns whether the run fails with its last attempt: the task has too many errors, or it is switched off.
    fn has_no_next_attempt(&self, most_errors: u32) -> bool {
        self.errors >= most_errors || !self.enabled
    }

    /// Returns whether a run that waits for its next attempt continues after an update: the task stays switched on, and its prompt, its schedule and
    /// its conversations stay the same.
    pub fn keeps_run(&self, definition: &TaskDefinition, enabled: bool) -> bool {
        let own = &self.definition;
        enabled
            && own.prompt == definition.prompt
            && own.timing == definition.timing
            && own.keep_history == definition.keep_history
    }

    /// Applies [`ScheduleStore::update_task`](super::ScheduleStore::update_task) to the row. A run that waits for its next attempt ends, unless the
    /// row [keeps](Self::keeps_run) it.
    pub fn update(&mut self, update: TaskUpdate) -> TaskStep {
        let keeps_run = self.keeps_run(&update.definition, update.enabled);
        self.definition = update.definition;
        (self.enabled, self.due) = (update.enabled, update.due);
        (self.errors, self.last_error) = (0, update.error);
        let mut step = TaskStep::default();
        match self.running {
            // The process that has claimed the run continues it.
            Some(_) if self.token.is_some() => {}
            // The next attempt continues the run.
            Some(_) if keeps_run => {}
            Some(due) => {
                let reason = "the task was changed before the next attempt".to_owned();
                step.run = Some((due, TaskRunState::Failed, Some(reason)));
                self.end_run();
            }
            None => self.end_run(),
        }
        self.changed(update.at);
        step
    }

    /// Returns the result of [`ScheduleStore::remove_task`](super::ScheduleStore::remove_task) for the row. A run that has not ended fails, because
    /// no process continues it.
    pub fn remove(&self) -> TaskStep {
        let failed = |due| {
            let reason = "the task was deleted before the run ended".to_owned();
            (due, TaskRunState::Failed, Some(reason))
        };
        TaskStep {
            run: self.running.map(failed),
            removed: true,
        }
    }

    /// Applies [`ScheduleStore::request_task_run`](super::ScheduleStore::request_task_run) to the row.
    pub fn request(&mut self, at: Timestamp) {
        self.requested = Some(self.requested.unwrap_or(at));
        if self.running.is_none() {
            self.ready = self.next_ready();
        }
        self.changed(at);
    }

    /// Returns whether [`ScheduleStore::claim_task`](super::ScheduleStore::claim_task) may apply a claim to the row.
    pub fn is_claimable(&self, claim: &TaskClaim) -> bool {
        let is_ready = self.ready.is_some_and(|ready| ready <= claim.at);
        let is_current = self.running.is_none_or(|running| running == claim.due);
        self.version == claim.version && is_ready && is_current
    }

    /// Applies [`ScheduleStore::claim_task`](super::ScheduleStore::claim_task) to a row that [is claimable](Self::is_claimable). `ended` is true if
    /// the run of this due time has ended before. If it has ended, the row has no current run afterwards. If the last attempt ended with its process,
    /// and too many attempts have failed or the task is switched off, returns the failed end of the run, and switches the task off. Otherwise the row
    /// has the token of the claim.
    pub fn claim(&mut self, claim: &TaskClaim, ended: bool) -> TaskStep {
        let mut step = TaskStep::default();
        self.changed(claim.at);
        if self.running.is_none() {
            if self.requested == Some(claim.due) {
                self.requested = None;
            } else {
                self.due = claim.next;
            }
            if ended {
                self.end_run();
                return step;
            }
        } else if self.token.is_some() {
            // The process of the last attempt has not extended its lease.
            self.errors += 1;
            let mut error = "the process ended during the run".to_owned();
            if !self.enabled {
                error += ", and the task is switched off";
            }
            self.last_error = Some(error.clone());
            if self.has_no_next_attempt(claim.most_errors) {
                step.run = Some((claim.due, TaskRunState::Failed, Some(error)));
                self.enabled = false;
                self.end_run();
                return step;
            }
        }
        self.running = Some(claim.due);
        self.token = Some(Self::new_token());
        self.worker = Some(claim.worker.clone());
        self.ready = Some(claim.at.plus(claim.lease));
        step
    }

    fn new_token() -> String {
        env::token()
    }

    /// Applies [`ScheduleStore::extend_task`](super::ScheduleStore::extend_task) to the row. Returns false if the token is not the token of the
    /// current claim.
    pub fn extend(&mut self, token: &str, lease: Duration, at: Timestamp) -> bool {
        if self.token.as_deref() != Some(token) {
            return false;
        }
        self.ready = Some(at.plus(lease));
        true
    }

    /// Applies [`ScheduleStore::end_task_attempt`](super::ScheduleStore::end_task_attempt) to the row. Returns `None` if the token is not the token
    /// of the current claim.
    pub fn end_attempt(&mut self, token: &str, attempt: TaskAttempt) -> Option<TaskStep> {
        let due = self.running?;
        if self.token.as_deref() != Some(token) {
            return None;
        }
        let mut step = TaskStep::default();
        let is_once = matches!(self.definition.timing, TaskTiming::Once { .. });
        match attempt.outcome {
            TaskOutcome::Succeeded => {
                step.run = Some((due, TaskRunState::Succeeded, None));
                step.removed = self.definition.delete_after_run;
                (self.errors, self.last_error) = (0, None);
                self.enabled &= !is_once || self.due.is_some();
                self.end_run();
            }
            TaskOutcome::Waiting(reason) => {
                step.run = Some((due, TaskRunState::Waiting, Some(reason)));
                (self.errors, self.last_error) = (0, None);
                self.enabled &= !is_once || self.due.is_some();
                self.end_run();
            }
            TaskOutcome::Failed {
                error,
                retry,
                most_errors,
            } => {
                self.errors += 1;
                self.last_error = Some(error.clone());
                if self.has_no_next_attempt(most_errors) {
                    step.run = Some((due, TaskRunState::Failed, Some(error)));
                    self.enabled = false;
                    self.end_run();
                } else {
                    step.run = Some((due, TaskRunState::Running, Some(error)));
                    (self.token, self.worker) = (None, None);
                    self.ready = Some(attempt.at.plus(retry));
                }
            }
        }
        self.changed(attempt.at);
        Some(step)
    }
}
