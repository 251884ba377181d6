//! The arguments of `schedule_task` that describe a task.

use tool_core::Issue;
use tool_core::prelude::*;
use tool_core::store::{
    TaskDefinition, TaskRow, TaskTiming, TaskUpdate, Timestamp, TimingError, next_due, read_time,
};

use super::tool::{ScheduleType, ScheduledTask};

/// The arguments that describe a task.
#[derive(Clone)]
pub(super) struct Fields {
    pub(super) name: Option<String>,
    pub(super) prompt: Option<String>,
    pub(super) schedule_type: Option<ScheduleType>,
    pub(super) cron_expression: Option<String>,
    pub(super) timezone: Option<String>,
    pub(super) every_ms: Option<u64>,
    pub(super) run_at: Option<String>,
    pub(super) delete_after_run: Option<bool>,
    pub(super) keep_history: Option<bool>,
    pub(super) outbound_channel: Option<String>,
    pub(super) outbound_target: Option<String>,
    pub(super) enabled: Option<bool>,
}

pub(super) fn issue(pointer: &str, expected: impl Into<String>, found: &str) -> ToolError {
    ToolError::invalid_arguments(vec![Issue {
        pointer: pointer.to_owned(),
        expected: expected.into(),
        found: found.to_owned(),
    }])
}

/// Returns the value of an argument that this action requires, or the error for a missing argument.
pub(super) fn required<T>(value: Option<T>, pointer: &str, expected: &str) -> Result<T, ToolError> {
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
    pub(super) fn timing(
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

    /// Checks that a task names both a channel and a target, or neither.
    pub(super) fn check_outbound(definition: &TaskDefinition) -> Result<(), ToolError> {
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

    /// Returns the kind of the new schedule, and the arguments. Omitted arguments, except `run_at`, get the values of the present schedule.
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
    pub(super) fn update(&self, row: &TaskRow, now: Timestamp) -> Result<TaskUpdate, ToolError> {
        let mut definition = row.definition.clone();
        let enabled = self.enabled.unwrap_or(row.enabled);
        let mut due = row.due;
        replace(&mut definition.name, self.name.as_ref());
        replace(&mut definition.prompt, self.prompt.as_ref());
        replace(
            &mut definition.delete_after_run,
            self.delete_after_run.as_ref(),
        );
        replace(&mut definition.keep_history, self.keep_history.as_ref());
        // If a task has no further due time, a run that waits for its next attempt is the last run of the task.
        let is_waiting = row.running.is_some() && row.token.is_none();
        let ends_last_run = is_waiting && due.is_none() && !row.keeps_run(&definition, enabled);
        if self.changes_timing() {
            let (kind, fields) = self.completed(row);
            let (timing, next) = fields.timing(kind, now)?;
            (definition.timing, due) = (timing, Some(next));
        } else if enabled && (!row.enabled || ends_last_run) {
            // Due times that passed while the task was disabled do not count as missed, so the next due time is after now.
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
