//! The `schedule_task` tool.

use std::fmt;
use std::sync::Arc;

use tool_core::prelude::*;
use tool_core::store::{
    NewTask, ScheduleStore, Scope, TaskDefinition, TaskFilter, TaskId, TaskRow, TaskTiming,
    Timestamp, write_time,
};
use tool_core::{Effect, host_value};

use super::fields::{Fields, issue, required};

/// The maximum number of tasks of a workspace, by default.
const MOST_TASKS: u32 = 100;

/// The maximum number of attempts of an update, if other calls or runs change the task at the same time.
const TRIES: u32 = 5;

/// The store of the scheduled tasks, and their maximum number for a workspace, as a host value of [`schedule_task`](fn@schedule_task).
#[derive(Clone)]
pub struct Schedules {
    store: Arc<dyn ScheduleStore>,
    most_tasks: u32,
}

host_value!(Schedules, Effect::READ.union(Effect::WRITE));

impl Schedules {
    /// Creates the value with the store of the tasks.
    pub fn new(store: impl ScheduleStore) -> Self {
        Self {
            store: Arc::new(store),
            most_tasks: MOST_TASKS,
        }
    }

    /// Sets the maximum number of tasks of a workspace; 100 by default.
    #[must_use]
    pub fn most_tasks(mut self, most: u32) -> Self {
        self.most_tasks = most;
        self
    }
}

impl fmt::Debug for Schedules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Schedules")
            .field("most_tasks", &self.most_tasks)
            .finish_non_exhaustive()
    }
}

/// The action of a [`schedule_task`](fn@schedule_task) call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
#[serde(rename_all = "snake_case")]
pub enum ScheduleAction {
    /// Creates a task.
    Create,
    /// Lists all tasks.
    List,
    /// Changes a task.
    Update,
    /// Deletes a task.
    Delete,
    /// Runs a task as soon as possible, also if it is switched off.
    Run,
}

/// The kind of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ScheduleType {
    /// The task runs at the times of a cron expression.
    Cron,
    /// The task runs at a fixed interval.
    Interval,
    /// The task runs once.
    OneShot,
}

/// A scheduled task.
#[expect(clippy::struct_excessive_bools, reason = "each is an independent fact")]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub struct ScheduledTask {
    /// The id of the task.
    pub task_id: String,
    /// The name of the task.
    pub name: String,
    /// The prompt of each run.
    pub prompt: String,
    /// The kind of the schedule.
    pub schedule_type: ScheduleType,
    /// The cron expression.
    pub cron_expression: Option<String>,
    /// The time zone of the cron expression.
    pub timezone: Option<String>,
    /// The time between two runs in milliseconds.
    pub every_ms: Option<u64>,
    /// The time of the only run.
    pub run_at: Option<String>,
    /// Whether the task is deleted after a run that has succeeded.
    pub delete_after_run: bool,
    /// Whether all runs share one conversation.
    pub keep_history: bool,
    /// The channel through which the answer is sent.
    pub outbound_channel: Option<String>,
    /// The address in the channel.
    pub outbound_target: Option<String>,
    /// Whether the task runs when it is due.
    pub enabled: bool,
    /// When the task is due next.
    pub next_run_at: Option<String>,
    /// Whether a run has begun and has not ended. It may wait for its next attempt.
    pub is_running: bool,
    /// How many attempts have failed since the last attempt that did not fail, or since the last update of the task.
    pub errors: u32,
    /// The last error of the task; null after an attempt that did not fail, and after an update by a person or a model.
    pub last_error: Option<String>,
}

/// The tasks after a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub struct ScheduleResult {
    /// The task of the call, or all tasks of a list. A deleted task is returned as it was.
    pub tasks: Vec<ScheduledTask>,
}

impl ScheduledTask {
    pub(super) fn of(row: TaskRow) -> Self {
        let (running, due, enabled) = (row.running.is_some(), row.due, row.enabled);
        let definition = row.definition;
        let mut task = Self {
            task_id: row.id.id().to_owned(),
            name: definition.name,
            prompt: definition.prompt,
            schedule_type: ScheduleType::OneShot,
            cron_expression: None,
            timezone: None,
            every_ms: None,
            run_at: None,
            delete_after_run: definition.delete_after_run,
            keep_history: definition.keep_history,
            outbound_channel: definition.outbound_channel,
            outbound_target: definition.outbound_target,
            enabled,
            next_run_at: row.requested.or(due.filter(|_| enabled)).map(write_time),
            is_running: running,
            errors: row.errors,
            last_error: row.last_error,
        };
        match definition.timing {
            TaskTiming::Cron {
                expression,
                timezone,
            } => {
                task.schedule_type = ScheduleType::Cron;
                task.cron_expression = Some(expression);
                task.timezone = Some(timezone);
            }
            TaskTiming::Interval { every_ms, .. } => {
                task.schedule_type = ScheduleType::Interval;
                task.every_ms = Some(every_ms);
            }
            TaskTiming::Once { at } => task.run_at = Some(write_time(at)),
        }
        task
    }
}

/// Creates, lists, updates, deletes or runs scheduled tasks. A task starts a new turn with its prompt at the times of its schedule, without a user who could
/// answer questions, so write the prompt as complete instructions.
#[tool(
    category = "schedule",
    destructive,
    approval = |call, _cx| call.action == ScheduleAction::Delete,
    allow(limit-optional, limit-union),
    example("Every weekday at 9 in Berlin", {
        "action": "create", "name": "Standup", "prompt": "Summarize yesterday's tickets.", "schedule_type": "cron",
        "cron_expression": "0 9 * * MON-FRI", "timezone": "Europe/Berlin"
    }),
    example("Once, in 20 minutes", {
        "action": "create", "name": "Reminder", "prompt": "Remind Ann of the call.", "schedule_type": "one-shot", "run_at": "+20m", "delete_after_run": true
    }),
    example("Switches a task off", { "action": "update", "task_id": "task-1", "enabled": false }),
)]
pub async fn schedule_task(
    cx: &ToolContext,
    schedules: &Schedules,
    /// The action to perform.
    action: ScheduleAction,
    /// The id of the task, for `update`, `delete` and `run`.
    #[arg(length = 1..=200)]
    task_id: Option<String>,
    /// A name for people. Required for `create`.
    #[arg(length = 1..=200)]
    name: Option<String>,
    /// The instructions for each run. Required for `create`.
    #[arg(length = 1..=20000)]
    prompt: Option<String>,
    /// The kind of the schedule. Required for `create`.
    schedule_type: Option<ScheduleType>,
    /// For `cron`: minute, hour, day of month, month and day of week.
    #[arg(length = 1..=200)]
    cron_expression: Option<String>,
    /// The IANA name of the time zone for `cron` and for a `run_at` without an offset. `UTC` by default.
    #[arg(length = 1..=100)]
    timezone: Option<String>,
    /// For `interval`: the time between two runs in milliseconds.
    #[arg(range = 30_000..=31_622_400_000)]
    every_ms: Option<u64>,
    /// For `one-shot`: an ISO 8601 time, or a wait such as `+20m`, `+3h`, `+2d` or `+45s`.
    #[arg(length = 1..=100)]
    run_at: Option<String>,
    /// Whether to delete the task after a run that has succeeded. False by default.
    delete_after_run: Option<bool>,
    /// Whether all runs share one conversation, so that a run reads the earlier ones. False by default.
    keep_history: Option<bool>,
    /// The channel through which to send the answer of each run.
    #[arg(length = 1..=100)]
    outbound_channel: Option<String>,
    /// The address in the channel. Required with `outbound_channel`.
    #[arg(length = 1..=500)]
    outbound_target: Option<String>,
    /// Whether the task runs when it is due. True by default.
    enabled: Option<bool>,
) -> Result<ScheduleResult, ToolError> {
    let fields = Fields {
        name,
        prompt,
        schedule_type,
        cron_expression,
        timezone,
        every_ms,
        run_at,
        delete_after_run,
        keep_history,
        outbound_channel,
        outbound_target,
        enabled,
    };
    let tasks = match action {
        ScheduleAction::List => schedules.list(cx).await?,
        ScheduleAction::Create => vec![schedules.create(fields, cx).await?],
        ScheduleAction::Update => vec![schedules.update(task_id, &fields, cx).await?],
        ScheduleAction::Delete => vec![schedules.delete(task_id, cx).await?],
        ScheduleAction::Run => vec![schedules.request(task_id, cx).await?],
    };
    Ok(ScheduleResult {
        tasks: tasks.into_iter().map(ScheduledTask::of).collect(),
    })
}

impl Schedules {
    async fn list(&self, cx: &ToolContext) -> Result<Vec<TaskRow>, ToolError> {
        let workspace = cx.own_workspace();
        let all = TaskFilter::default();
        Ok(self
            .store
            .list_tasks(Scope::Workspace(&workspace), &all)
            .await?)
    }

    async fn create(&self, fields: Fields, cx: &ToolContext) -> Result<TaskRow, ToolError> {
        let (workspace, now) = (cx.own_workspace(), Timestamp::now());
        let kind = required(
            fields.schedule_type,
            "/schedule_type",
            "the kind of the schedule",
        )?;
        let (timing, due) = fields.timing(kind, now)?;
        let definition = TaskDefinition {
            name: required(fields.name, "/name", "a name")?,
            prompt: required(fields.prompt, "/prompt", "the instructions for each run")?,
            timing,
            delete_after_run: fields.delete_after_run.unwrap_or(false),
            keep_history: fields.keep_history.unwrap_or(false),
            outbound_channel: fields.outbound_channel,
            outbound_target: fields.outbound_target,
        };
        Fields::check_outbound(&definition)?;
        let full = TaskFilter {
            limit: Some(self.most_tasks),
            after: None,
        };
        let tasks = self
            .store
            .list_tasks(Scope::Workspace(&workspace), &full)
            .await?;
        if tasks.len() >= usize::try_from(self.most_tasks).unwrap_or(usize::MAX) {
            let most = self.most_tasks;
            return Err(ToolError::new(format!(
                "there are {most} tasks already, and no more are allowed: delete a task that is not needed"
            )));
        }
        let new = NewTask {
            id: TaskId::generate(&workspace),
            principal: cx.user().map(str::to_owned),
            definition,
            enabled: fields.enabled.unwrap_or(true),
            due: Some(due),
            at: now,
        };
        Ok(self.store.create_task(new).await?)
    }

    /// Returns a task of the user of the context. A run has the identity of the user who created the task, so other users cannot change, delete
    /// or run it.
    async fn own(&self, id: &TaskId, cx: &ToolContext) -> Result<TaskRow, ToolError> {
        let row = self.store.task(id).await?.ok_or_else(|| missing(id))?;
        if row.principal.as_deref() != cx.user() {
            return Err(ToolError::new(format!(
                "the task `{}` belongs to a different user, who alone can change it: create your own task",
                id.id()
            )));
        }
        Ok(row)
    }

    async fn update(
        &self,
        task_id: Option<String>,
        fields: &Fields,
        cx: &ToolContext,
    ) -> Result<TaskRow, ToolError> {
        let id = own_id(task_id, cx)?;
        for _ in 0..TRIES {
            let row = self.own(&id, cx).await?;
            let update = fields.update(&row, Timestamp::now())?;
            match self.store.update_task(&id, update, row.version).await {
                Ok(row) => return row.ok_or_else(|| missing(&id)),
                Err(tool_core::store::StoreError::Stale(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(ToolError::new(
            "other calls or runs kept changing the task: try again later",
        ))
    }

    async fn delete(
        &self,
        task_id: Option<String>,
        cx: &ToolContext,
    ) -> Result<TaskRow, ToolError> {
        let id = own_id(task_id, cx)?;
        let row = self.own(&id, cx).await?;
        if !self.store.remove_task(&id, Timestamp::now()).await? {
            return Err(missing(&id));
        }
        Ok(row)
    }

    async fn request(
        &self,
        task_id: Option<String>,
        cx: &ToolContext,
    ) -> Result<TaskRow, ToolError> {
        let id = own_id(task_id, cx)?;
        self.own(&id, cx).await?;
        let row = self.store.request_task_run(&id, Timestamp::now()).await?;
        row.ok_or_else(|| missing(&id))
    }
}

/// Returns the id of a task in the workspace of the context. A task of another workspace is not found.
fn own_id(task_id: Option<String>, cx: &ToolContext) -> Result<TaskId, ToolError> {
    let id = required(task_id, "/task_id", "the id of a task")?;
    let text = id.clone();
    TaskId::new(&cx.own_workspace(), id).map_err(|_| issue("/task_id", "the id of a task", &text))
}

fn missing(id: &TaskId) -> ToolError {
    ToolError::new(format!(
        "there is no task `{}`: use a `task_id` of the action `list`",
        id.id()
    ))
}
