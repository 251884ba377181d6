//! Scheduled tasks: their definitions, claims of due runs, and the rows of runs.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Scope, StoreError, StoreFuture, Timestamp, Workspace, words};
use crate::env;

mod row;

pub use row::{TaskRow, TaskStep};

/// The id of a scheduled task: a workspace, and an id in it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId {
    workspace: Workspace,
    id: String,
}

impl TaskId {
    /// Creates the id of a task. Take the workspace from the session, not from the request: the workspace isolates tenants from each other. Fails
    /// with `Conflict` if the id is empty or contains a NUL character.
    pub fn new(workspace: &Workspace, id: impl Into<String>) -> Result<Self, StoreError> {
        let id = id.into();
        if id.is_empty() || id.contains('\0') {
            return Err(StoreError::Conflict(
                "the id of the task is empty or contains a NUL character: use the id that the task was created with".to_owned(),
            ));
        }
        Ok(Self {
            workspace: workspace.clone(),
            id,
        })
    }

    /// Creates a unique id for a new task.
    pub fn generate(workspace: &Workspace) -> Self {
        let (process, serial) = env::serial();
        let now = Timestamp::now().as_millis();
        Self {
            workspace: workspace.clone(),
            id: format!("task-{now:x}-{:x}", process ^ serial.rotate_left(32)),
        }
    }

    /// Returns the workspace of the task.
    pub fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// Returns the id in the workspace.
    pub fn id(&self) -> &str {
        &self.id
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (id, workspace) = (&self.id, self.workspace.as_str());
        write!(f, "task `{id}` of workspace `{workspace}`")
    }
}

/// When a task is due.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "type")]
pub enum TaskTiming {
    /// The task is due at the times that a cron expression names.
    Cron {
        /// The cron expression.
        expression: String,
        /// The IANA name of the time zone in which the expression is read.
        timezone: String,
    },
    /// The task is due at regular intervals.
    Interval {
        /// The interval, in milliseconds.
        every_ms: u64,
        /// The time from which the intervals are counted.
        from: Timestamp,
    },
    /// The task is due once.
    Once {
        /// The only due time of the task.
        at: Timestamp,
    },
}

/// The part of a task that its author writes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskDefinition {
    /// A name for people.
    pub name: String,
    /// The message that begins the turn of a run.
    pub prompt: String,
    /// When the task is due.
    pub timing: TaskTiming,
    /// Whether the task is removed after a run that has succeeded.
    pub delete_after_run: bool,
    /// Whether all runs share one conversation.
    pub keep_history: bool,
    /// The channel through which the reply of the turn is sent.
    pub outbound_channel: Option<String>,
    /// The address in the channel.
    pub outbound_target: Option<String>,
}

/// A task to create.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewTask {
    /// The id of the task.
    pub id: TaskId,
    /// The user on whose behalf the task runs; `None` if there is none.
    pub principal: Option<String>,
    /// The definition of the task.
    pub definition: TaskDefinition,
    /// Whether the task runs when it is due.
    pub enabled: bool,
    /// The first due time; `None` if the task is never due.
    pub due: Option<Timestamp>,
    /// When the task was created.
    pub at: Timestamp,
}

impl NewTask {
    /// Returns the error if the workspace has a task with this id.
    pub fn exists(&self) -> StoreError {
        StoreError::Conflict(format!("the {} exists already: choose another id", self.id))
    }
}

/// A change of a task. It resets the count of errors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskUpdate {
    /// The new definition of the task.
    pub definition: TaskDefinition,
    /// Whether the task runs when it is due.
    pub enabled: bool,
    /// The next due time.
    pub due: Option<Timestamp>,
    /// Why the task is switched off; `None` for a change by its author.
    pub error: Option<String>,
    /// When the task was changed.
    pub at: Timestamp,
}

/// The state of one run of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskRunState {
    /// A process drives the run, the process died, or the run waits for its next attempt.
    Running,
    /// The run has succeeded.
    Succeeded,
    /// The turn of the run waits, for example for an approval or for the client, and continues later in its conversation.
    Waiting,
    /// The last attempt of the run has failed, the task was removed before the run ended, or the task was changed while the run waited for its next
    /// attempt.
    Failed,
    /// The due time was skipped.
    Skipped,
}

words!(TaskRunState {
    Running = "running",
    Succeeded = "succeeded",
    Waiting = "waiting",
    Failed = "failed",
    Skipped = "skipped",
});

/// One run of a task. A task has at most one run for each due time.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TaskRun {
    /// The id of the task.
    pub task: TaskId,
    /// The due time, which identifies the run.
    pub due: Timestamp,
    /// The user on whose behalf the task ran; `None` if there is none.
    pub principal: Option<String>,
    /// The state of the run.
    pub state: TaskRunState,
    /// The number of attempts, including the current attempt.
    pub attempts: u32,
    /// The conversation of the run; `None` for a skipped due time.
    pub conversation: Option<String>,
    /// Why the due time was skipped, why the last attempt or the run failed, or what the run waits for.
    pub reason: Option<String>,
    /// When the first attempt began, or when the due time was skipped.
    pub started: Timestamp,
    /// When the run ended.
    pub ended: Option<Timestamp>,
}

impl TaskRun {
    /// Creates the row of a run or a skipped due time, with no attempt and no user.
    pub fn new(task: TaskId, due: Timestamp, state: TaskRunState, at: Timestamp) -> Self {
        Self {
            task,
            due,
            principal: None,
            state,
            attempts: 0,
            conversation: None,
            reason: None,
            started: at,
            ended: (state != TaskRunState::Running).then_some(at),
        }
    }
}

impl TaskRun {
    /// Applies a claim to the row of the claimed run.
    pub fn begin(&mut self, claim: &TaskClaim) {
        self.attempts += 1;
        self.conversation = Some(claim.conversation.clone());
        (self.state, self.ended) = (TaskRunState::Running, None);
    }

    /// Applies [`TaskStep::run`] to the row.
    pub fn step(&mut self, state: TaskRunState, reason: Option<String>, at: Timestamp) {
        (self.state, self.reason) = (state, reason);
        self.ended = (state != TaskRunState::Running).then_some(at);
    }
}

/// A due time that does not run, with the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedRun {
    /// The due time that is skipped.
    pub due: Timestamp,
    /// The reason, for people.
    pub reason: String,
}

/// The claim of a run of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskClaim {
    /// The id of the task.
    pub id: TaskId,
    /// The [`version`](TaskRow::version) of the row that the claim was computed from.
    pub version: u64,
    /// The due time of the run: the [`running`](TaskRow::running) time of the row if it has one, else the [`requested`](TaskRow::requested) time,
    /// else a due time.
    pub due: Timestamp,
    /// The conversation of the run.
    pub conversation: String,
    /// The due times before [`due`](Self::due) that are skipped.
    pub skipped: Vec<SkippedRun>,
    /// The due time after [`due`](Self::due). The store ignores it if the claim continues a run or begins a requested run.
    pub next: Option<Timestamp>,
    /// The name of the process, for people.
    pub worker: String,
    /// The length of the lease. When the lease ends, another process may claim the run.
    pub lease: Duration,
    /// The number of failed attempts after which the task is switched off.
    pub most_errors: u32,
    /// When the claim is made.
    pub at: Timestamp,
}

impl TaskClaim {
    /// Returns the row of a new run of a task, with no attempt.
    pub fn run(&self, task: &TaskRow) -> TaskRun {
        TaskRun {
            principal: task.principal.clone(),
            ..TaskRun::new(self.id.clone(), self.due, TaskRunState::Running, self.at)
        }
    }

    /// Returns the rows of the skipped due times of a task.
    pub fn skipped_runs(&self, task: &TaskRow) -> impl Iterator<Item = TaskRun> {
        self.skipped.iter().map(|skipped| TaskRun {
            principal: task.principal.clone(),
            reason: Some(skipped.reason.clone()),
            ..TaskRun::new(self.id.clone(), skipped.due, TaskRunState::Skipped, self.at)
        })
    }
}

/// The end of an attempt of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskAttempt {
    /// The outcome of the attempt.
    pub outcome: TaskOutcome,
    /// When the attempt ended.
    pub at: Timestamp,
}

/// The outcome of an attempt of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaskOutcome {
    /// The run has succeeded.
    Succeeded,
    /// The turn waits, for example for an approval or for the client; the text is the reason. The run has ended, and does not count as an error.
    Waiting(String),
    /// The attempt has failed. The run is attempted again after the time `retry`. If the task now has too many errors or was switched off, the run
    /// fails instead, and the task is switched off.
    Failed {
        /// The error, for people.
        error: String,
        /// The time before the next attempt.
        retry: Duration,
        /// The number of failed attempts after which the task is switched off. The store compares it with the current count, because a change of the
        /// task during the attempt resets the count.
        most_errors: u32,
    },
}

/// A page of the list of tasks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskFilter {
    /// The maximum number of rows.
    pub limit: Option<u32>,
    /// The cursor: only rows after it. It is the [`TaskRow::id`] of the last row of the previous page.
    pub after: Option<TaskId>,
}

/// A filter for the runs of a task.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskRunFilter {
    /// Only runs in this state.
    pub state: Option<TaskRunState>,
    /// The maximum number of rows.
    pub limit: Option<u32>,
    /// The cursor: only runs with an earlier due time.
    pub before: Option<Timestamp>,
}

/// A store of scheduled tasks, which any number of processes run.
///
/// A process reads the [tasks that are ready](Self::ready_tasks), computes from each row which due time runs, which due times are skipped and when
/// the task is due next, and [claims](Self::claim_task) the run. If several processes claim the run, only one succeeds. A run is identified by its
/// task and its due time, so a due time has at most one run. A process that dies loses its claim when the lease ends, and the run is claimed again as
/// the same run.
#[doc(alias("cron", "scheduler", "timer"))]
pub trait ScheduleStore: Send + Sync + 'static {
    /// Creates a task. Fails with `Conflict` if the workspace has a task with this id.
    fn create_task(&self, new: NewTask) -> StoreFuture<'_, TaskRow>;

    /// Returns the row of a task; `None` if the workspace has no task with this id.
    fn task<'a>(&'a self, id: &'a TaskId) -> StoreFuture<'a, Option<TaskRow>>;

    /// Lists tasks, ordered by workspace and id.
    fn list_tasks<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a TaskFilter,
    ) -> StoreFuture<'a, Vec<TaskRow>>;

    /// Changes a task, by the rules of [`TaskRow::update`], and returns its row; `None` if the task does not exist. Fails with `Stale` if the row has
    /// a different [`version`](TaskRow::version) than `expected`.
    fn update_task<'a>(
        &'a self,
        id: &'a TaskId,
        update: TaskUpdate,
        expected: u64,
    ) -> StoreFuture<'a, Option<TaskRow>>;

    /// Requests a run of a task as soon as possible, even if the task is switched off: then the run is attempted once. Returns the row; `None` if the
    /// task does not exist.
    fn request_task_run<'a>(
        &'a self,
        id: &'a TaskId,
        at: Timestamp,
    ) -> StoreFuture<'a, Option<TaskRow>>;

    /// Removes a task. Returns whether it existed. Its runs are kept. By the rules of [`TaskRow::remove`], its current run fails, and the process
    /// that has claimed the run cannot extend its claim.
    fn remove_task<'a>(&'a self, id: &'a TaskId, at: Timestamp) -> StoreFuture<'a, bool>;

    /// Returns the tasks of all workspaces that a process may claim at this time, the one that has waited longest first.
    fn ready_tasks(&self, at: Timestamp, limit: u32) -> StoreFuture<'_, Vec<TaskRow>>;

    /// Claims a run of a task, by the rules of [`TaskRow::claim`], and writes the rows of the skipped due times. Returns the row with the token of
    /// the claim and the row of the run; `None` if the task does not exist or is not ready, if its row has changed since the claim was
    /// computed, or if the run has ended or fails with this claim.
    fn claim_task(&self, claim: TaskClaim) -> StoreFuture<'_, Option<(TaskRow, TaskRun)>>;

    /// Extends a claim. Returns false if the claim has ended, so that the process must stop the run.
    fn extend_task<'a>(
        &'a self,
        id: &'a TaskId,
        token: &'a str,
        lease: Duration,
        at: Timestamp,
    ) -> StoreFuture<'a, bool>;

    /// Ends the attempt of a claimed run, by the rules of [`TaskRow::end_attempt`]. Returns false, and changes nothing, if the token is not the token
    /// of the current claim.
    fn end_task_attempt<'a>(
        &'a self,
        id: &'a TaskId,
        token: &'a str,
        attempt: TaskAttempt,
    ) -> StoreFuture<'a, bool>;

    /// Lists the runs of a task, the latest due time first.
    fn list_task_runs<'a>(
        &'a self,
        id: &'a TaskId,
        filter: &'a TaskRunFilter,
    ) -> StoreFuture<'a, Vec<TaskRun>>;
}
