//! The tool of the pack `schedule` of `tool-std`, for scheduled tasks.

use serde::{Deserialize, Serialize};
#[cfg(feature = "schema")]
use tool_core::StrictSchema;

use crate::ToolContract;

/// The arguments of `schedule_task`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct ScheduleTask {
    /// The action to perform.
    pub action: ScheduleAction,
    /// The id of the task, for `update`, `delete` and `run`.
    #[cfg_attr(feature = "schema", schema(length = 1..=200))]
    pub task_id: Option<String>,
    /// A name for people.
    #[cfg_attr(feature = "schema", schema(length = 1..=200))]
    pub name: Option<String>,
    /// The instructions for each run.
    #[cfg_attr(feature = "schema", schema(length = 1..=20000))]
    pub prompt: Option<String>,
    /// The kind of the schedule.
    pub schedule_type: Option<ScheduleType>,
    /// For `cron`: minute, hour, day of month, month and day of week.
    #[cfg_attr(feature = "schema", schema(length = 1..=200))]
    pub cron_expression: Option<String>,
    /// The IANA name of the time zone.
    #[cfg_attr(feature = "schema", schema(length = 1..=100))]
    pub timezone: Option<String>,
    /// For `interval`: the time between two runs in milliseconds.
    #[cfg_attr(feature = "schema", schema(range = 30_000..=31_622_400_000))]
    pub every_ms: Option<u64>,
    /// For `one-shot`: an ISO 8601 time, or a wait such as `+20m`.
    #[cfg_attr(feature = "schema", schema(length = 1..=100))]
    pub run_at: Option<String>,
    /// Whether to delete the task after a run that has succeeded.
    pub delete_after_run: Option<bool>,
    /// Whether all runs share one conversation.
    pub keep_history: Option<bool>,
    /// The channel through which to send the answer of each run.
    #[cfg_attr(feature = "schema", schema(length = 1..=100))]
    pub outbound_channel: Option<String>,
    /// The address in the channel.
    #[cfg_attr(feature = "schema", schema(length = 1..=500))]
    pub outbound_target: Option<String>,
    /// Whether the task runs when it is due.
    pub enabled: Option<bool>,
}

impl ToolContract for ScheduleTask {
    const NAME: &'static str = "schedule_task";
    type Input = Self;
    type Output = ScheduleResult;
}

/// The action of a `schedule_task` call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ScheduleType {
    /// The task runs at the times of a cron expression.
    Cron,
    /// The task runs at a fixed interval.
    Interval,
    /// The task runs once.
    OneShot,
}

/// The tasks after a call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct ScheduleResult {
    /// The task of the call, or all tasks of a list. A deleted task is returned as it was.
    pub tasks: Vec<ScheduledTask>,
}

/// A scheduled task.
#[expect(clippy::struct_excessive_bools, reason = "each is an independent fact")]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
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
