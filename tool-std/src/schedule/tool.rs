//! The `schedule_task` tool.

use std::fmt;
use std::sync::Arc;

use tool_core::prelude::*;
use tool_core::store::{
    NewTask, ScheduleStore, Scope, TaskDefinition, TaskFilter, TaskId, TaskRow, TaskTiming,
    TaskUpdate, Timestamp,
};
use tool_core::{Effect, Issue, host_value};

use super::timing::{TimingError, next_due, read_time, shown};

/// How many tasks a workspace may have by default.
const MOST_TASKS: u32 = 100;

/// How often an update is repeated if another process changes the task at the same time.
const TRIES: u32 = 5;

/// The scheduled tasks of the workspace, as a host value of [`schedule_task`](fn@schedule_task).
#[derive(Clone)]
pub struct Schedules {
    store: Arc<dyn ScheduleStore>,
    most_tasks: u32,
}

host_value!(Schedules, Effect::READ.union(Effect::WRITE));

impl Schedules {
    /// Creates the tasks of a store.
    pub fn new(store: impl ScheduleStore) -> Self {
        Self {
            store: Arc::new(store),
            most_tasks: MOST_TASKS,
        }
    }

    /// Sets how many tasks a workspace may have; 100 by default.
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

/// What [`schedule_task`](fn@schedule_task) does.
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
    /// At the times of a cron expression.
    Cron,
    /// At times of equal distance.
    Interval,
    /// Once.
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
    /// The distance between two runs in milliseconds.
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
    /// Whether a run is active now.
    pub is_running: bool,
    /// How many attempts have failed since the last success.
    pub errors: u32,
    /// The error of the last failed attempt.
    pub last_error: Option<String>,
}

/// The tasks after a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub struct ScheduleResult {
    /// The task of the call, or all tasks of a list. A deleted task is returned as it was.
    pub tasks: Vec<ScheduledTask>,
}

impl ScheduledTask {
    fn of(row: TaskRow) -> Self {
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
            next_run_at: row.requested.or(due.filter(|_| enabled)).map(shown),
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
            TaskTiming::Once { at } => task.run_at = Some(shown(at)),
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
    /// What to do.
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
    /// For `interval`: the distance between two runs in milliseconds.
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

/// The arguments that describe a task.
#[derive(Clone)]
struct Fields {
    name: Option<String>,
    prompt: Option<String>,
    schedule_type: Option<ScheduleType>,
    cron_expression: Option<String>,
    timezone: Option<String>,
    every_ms: Option<u64>,
    run_at: Option<String>,
    delete_after_run: Option<bool>,
    keep_history: Option<bool>,
    outbound_channel: Option<String>,
    outbound_target: Option<String>,
    enabled: Option<bool>,
}

fn issue(pointer: &str, expected: impl Into<String>, found: &str) -> ToolError {
    ToolError::invalid_arguments(vec![Issue {
        pointer: pointer.to_owned(),
        expected: expected.into(),
        found: found.to_owned(),
    }])
}

/// Returns the value of an argument that this action requires.
fn required<T>(value: Option<T>, pointer: &str, expected: &str) -> Result<T, ToolError> {
    value.ok_or_else(|| issue(pointer, expected, "nothing"))
}

/// Returns the error of a schedule, at the argument that causes it.
fn faulty(pointer: &str, error: &TimingError) -> ToolError {
    let pointer = match error {
        TimingError::Timezone(_) => "/timezone",
        _ => pointer,
    };
    ToolError::new(format!("`{pointer}`: {error}"))
}

impl Fields {
    /// Returns the timing that the arguments describe, and its first due time after now.
    fn timing(
        &self,
        kind: ScheduleType,
        now: Timestamp,
    ) -> Result<(TaskTiming, Timestamp), ToolError> {
        let timezone = self.timezone.as_deref().unwrap_or("UTC");
        let (timing, pointer) = match kind {
            ScheduleType::Cron => {
                let expression = self.cron_expression.clone();
                let timing = TaskTiming::Cron {
                    expression: required(expression, "/cron_expression", "a cron expression")?,
                    timezone: timezone.to_owned(),
                };
                (timing, "/cron_expression")
            }
            ScheduleType::Interval => {
                let every_ms = required(self.every_ms, "/every_ms", "a number of milliseconds")?;
                (
                    TaskTiming::Interval {
                        every_ms,
                        from: now,
                    },
                    "/every_ms",
                )
            }
            ScheduleType::OneShot => {
                let text = required(self.run_at.as_deref(), "/run_at", "a time")?;
                let at =
                    read_time(text, timezone, now).map_err(|error| faulty("/run_at", &error))?;
                if at < now {
                    return Err(issue("/run_at", "a time in the future", text));
                }
                return Ok((TaskTiming::Once { at }, at));
            }
        };
        let due = next_due(&timing, now).map_err(|error| faulty(pointer, &error))?;
        let due = due.ok_or_else(|| faulty(pointer, &TimingError::Never))?;
        Ok((timing, due))
    }

    /// Checks that a task names both a channel and a target, or none.
    fn check_outbound(definition: &TaskDefinition) -> Result<(), ToolError> {
        match (&definition.outbound_channel, &definition.outbound_target) {
            (Some(_), None) => Err(issue(
                "/outbound_target",
                "an address in the channel",
                "nothing",
            )),
            (None, Some(_)) => Err(issue(
                "/outbound_channel",
                "the name of a channel",
                "nothing",
            )),
            _ => Ok(()),
        }
    }

    /// Returns whether an update changes the schedule.
    fn changes_timing(&self) -> bool {
        self.schedule_type.is_some()
            || self.cron_expression.is_some()
            || self.timezone.is_some()
            || self.every_ms.is_some()
            || self.run_at.is_some()
    }

    /// Returns the kind of the new schedule, and the arguments with those of the present schedule where an update leaves them out.
    fn completed(&self, row: &TaskRow) -> (ScheduleType, Self) {
        let present = ScheduledTask::of(row.clone());
        let mut fields = self.clone();
        let kind = self.schedule_type.unwrap_or(present.schedule_type);
        fields.cron_expression = fields.cron_expression.or(present.cron_expression);
        fields.timezone = fields.timezone.or(present.timezone);
        fields.every_ms = fields.every_ms.or(present.every_ms);
        (kind, fields)
    }

    /// Returns the change of a task: the arguments replace its fields.
    fn update(&self, row: &TaskRow, now: Timestamp) -> Result<TaskUpdate, ToolError> {
        let mut definition = row.definition.clone();
        let enabled = self.enabled.unwrap_or(row.enabled);
        let mut due = row.due;
        if self.changes_timing() {
            let (kind, fields) = self.completed(row);
            let (timing, next) = fields.timing(kind, now)?;
            (definition.timing, due) = (timing, Some(next));
        } else if enabled && !row.enabled {
            // Due times while the task was off are not missed.
            due = next_due(&definition.timing, now)
                .map_err(|error| faulty("/schedule_type", &error))?;
            if due.is_none() {
                return Err(issue(
                    "/run_at",
                    "a new time, because the time of the task has passed",
                    "nothing",
                ));
            }
        }
        replace(&mut definition.name, self.name.as_ref());
        replace(&mut definition.prompt, self.prompt.as_ref());
        replace(
            &mut definition.delete_after_run,
            self.delete_after_run.as_ref(),
        );
        replace(&mut definition.keep_history, self.keep_history.as_ref());
        if self.outbound_channel.is_some() || self.outbound_target.is_some() {
            definition
                .outbound_channel
                .clone_from(&self.outbound_channel);
            definition.outbound_target.clone_from(&self.outbound_target);
        }
        Self::check_outbound(&definition)?;
        Ok(TaskUpdate {
            definition,
            enabled,
            due,
            error: None,
            at: now,
        })
    }
}

fn replace<T: Clone>(field: &mut T, value: Option<&T>) {
    if let Some(value) = value {
        field.clone_from(value);
    }
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

    /// Returns a task of the user of the context. A run has the identity of the user who created the task, so other users cannot change or run it.
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
            "the task is changed by others all the time: try again later",
        ))
    }

    async fn delete(
        &self,
        task_id: Option<String>,
        cx: &ToolContext,
    ) -> Result<TaskRow, ToolError> {
        let id = own_id(task_id, cx)?;
        let row = self.own(&id, cx).await?;
        if !self.store.remove_task(&id).await? {
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
