//! `/v1/scheduled-tasks`: scheduled tasks and their runs.

use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tool_core::store::{
    Change, Changed, RecordChange, ScheduleStore, Scope, TaskFilter, TaskId, TaskRow, TaskRun,
    TaskRunFilter, TaskRunState, TaskTiming, TaskUpdate, Timestamp, next_due,
};
use utoipa::openapi::Schema;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::routes;

use super::{Answer, ChangeOutcome, Routes, needs, outcome};
use crate::access::{Access, Role};
use crate::auth::Caller;
use crate::change::{Wanted, answer, json, tag, tagged};
use crate::extract::{Body, Id, Idempotency, IfMatch, Query};
use crate::openapi::one_of;
use crate::page::{Page, Paged, Paging};
use crate::problem::{Kind, Problem};
use crate::state::{Inner, Shared};
use crate::time;

const WHAT: &str = "scheduled task";

pub(super) fn routes(all: Routes) -> Routes {
    all.routes(needs(
        Access::role(Role::Viewer),
        routes!(list_scheduled_tasks),
    ))
    .routes(needs(
        Access::role(Role::Viewer),
        routes!(get_scheduled_task),
    ))
    .routes(needs(Access::role(Role::Viewer), routes!(list_task_runs)))
    .routes(needs(
        Access::role(Role::Operator),
        routes!(enable_scheduled_task),
    ))
    .routes(needs(
        Access::role(Role::Admin),
        routes!(remove_scheduled_task),
    ))
}

fn run_states() -> Schema {
    one_of(TaskRunState::ALL.iter().map(|state| state.as_str()))
}

fn schedules() -> Schema {
    one_of(["cron", "interval", "one-shot"])
}

/// A scheduled task.
#[derive(Serialize, ToSchema)]
struct ScheduledTask {
    id: String,
    /// A name for people.
    name: String,
    /// The message that begins the turn of each run.
    prompt: String,
    /// The user on whose behalf the task runs.
    principal: Option<String>,
    #[schema(schema_with = schedules)]
    schedule_type: &'static str,
    /// The cron expression of the due times.
    cron_expression: Option<String>,
    /// The time zone of the cron expression.
    timezone: Option<String>,
    /// The time between two runs in milliseconds.
    every_ms: Option<u64>,
    /// The time of the only run.
    #[schema(format = DateTime)]
    run_at: Option<String>,
    /// Whether the task is deleted after a run that has succeeded.
    delete_after_run: bool,
    /// Whether all runs share one conversation.
    keep_history: bool,
    /// The channel through which the answer is sent.
    outbound_channel: Option<String>,
    /// The address in the channel.
    outbound_target: Option<String>,
    /// Whether the task runs when it is due.
    enabled: bool,
    /// The next due time that no process has claimed; for a task that is not enabled, the due time that it had.
    #[schema(format = DateTime)]
    next_run_at: Option<String>,
    /// The time of a run that a person or a model has requested, and that no process has claimed.
    #[schema(format = DateTime)]
    requested_at: Option<String>,
    /// The due time of the current run; null if none is active.
    #[schema(format = DateTime)]
    running: Option<String>,
    /// The process that drives the current run; null if no process drives a run.
    worker: Option<String>,
    /// The number of attempts that have failed since the last attempt that did not fail, or since the last change of the task.
    errors: u32,
    /// The error of the last failed attempt.
    last_error: Option<String>,
    #[schema(format = DateTime)]
    created_at: String,
    #[schema(format = DateTime)]
    updated_at: String,
}

impl From<&TaskRow> for ScheduledTask {
    fn from(row: &TaskRow) -> Self {
        let definition = &row.definition;
        let mut task = Self {
            id: row.id.id().to_owned(),
            name: definition.name.clone(),
            prompt: definition.prompt.clone(),
            principal: row.principal.clone(),
            schedule_type: "one-shot",
            cron_expression: None,
            timezone: None,
            every_ms: None,
            run_at: None,
            delete_after_run: definition.delete_after_run,
            keep_history: definition.keep_history,
            outbound_channel: definition.outbound_channel.clone(),
            outbound_target: definition.outbound_target.clone(),
            enabled: row.enabled,
            next_run_at: row.due.map(time::text),
            requested_at: row.requested.map(time::text),
            running: row.running.map(time::text),
            worker: row.worker.clone(),
            errors: row.errors,
            last_error: row.last_error.clone(),
            created_at: time::text(row.created),
            updated_at: time::text(row.updated),
        };
        match &definition.timing {
            TaskTiming::Cron {
                expression,
                timezone,
            } => {
                task.schedule_type = "cron";
                task.cron_expression = Some(expression.clone());
                task.timezone = Some(timezone.clone());
            }
            TaskTiming::Interval { every_ms, .. } => {
                task.schedule_type = "interval";
                task.every_ms = Some(*every_ms);
            }
            TaskTiming::Once { at } => task.run_at = Some(time::text(*at)),
        }
        task
    }
}

fn respond(changed: &Changed) -> String {
    match changed {
        Changed::Task(row) => json(&ScheduledTask::from(&**row)),
        _ => String::new(),
    }
}

fn id(caller: &Caller, id: impl Into<String>) -> Result<TaskId, Problem> {
    TaskId::new(&caller.workspace, id).map_err(|_| Problem::missing(WHAT))
}

/// Lists scheduled tasks, ordered by id.
#[utoipa::path(get, path = "/v1/scheduled-tasks", tag = "scheduled-tasks", params(Paged),
    responses((status = 200, description = "A page of tasks", body = Page<ScheduledTask>)))]
async fn list_scheduled_tasks(
    State(admin): State<Shared>,
    caller: Caller,
    Query(query): Query<Paged>,
) -> Answer {
    let paging = query.paging::<String>()?;
    let after = paging.after.as_deref();
    let filter = TaskFilter {
        limit: Some(paging.rows()),
        after: after.map(|after| id(&caller, after)).transpose()?,
    };
    let scope = Scope::Workspace(&caller.workspace);
    let rows = ScheduleStore::list_tasks(&*admin.store, scope, &filter).await;
    let rows = rows.map_err(|error| Problem::of_store(&error, WHAT))?;
    let place = |row: &TaskRow| row.id.id().to_owned();
    let page = paging.page(rows, place, |row| ScheduledTask::from(&row));
    Ok(answer(json(&page)))
}

async fn find(admin: &Inner, id: &TaskId) -> Result<TaskRow, Problem> {
    let row = ScheduleStore::task(&*admin.store, id).await;
    let row = row.map_err(|error| Problem::of_store(&error, WHAT))?;
    row.ok_or_else(|| Problem::missing(WHAT))
}

/// Returns one scheduled task. `/v1/scheduled-tasks/{task}/runs` lists its runs and the due times that were skipped.
#[utoipa::path(get, path = "/v1/scheduled-tasks/{task}", tag = "scheduled-tasks",
    params(("task" = String, Path, description = "The id of the task")),
    responses((status = 200, description = "The task", body = ScheduledTask, headers(("ETag" = String, description = "The version of the task")))))]
async fn get_scheduled_task(
    State(admin): State<Shared>,
    caller: Caller,
    Id(task): Id<String>,
) -> Answer {
    let row = find(&admin, &id(&caller, task)?).await?;
    Ok(tagged(json(&ScheduledTask::from(&row))))
}

/// A run of a task, or a due time that was skipped.
#[derive(Serialize, ToSchema)]
struct ScheduledRun {
    /// The due time, which identifies the run.
    #[schema(format = DateTime)]
    due: String,
    #[schema(schema_with = run_states)]
    state: &'static str,
    /// The number of attempts, with the current one.
    attempts: u32,
    /// The conversation of the run; null for a skipped due time.
    conversation: Option<String>,
    /// Why the due time was skipped, why the last attempt failed, or what the run waits for.
    reason: Option<String>,
    /// When the first attempt began, or when the due time was skipped.
    #[schema(format = DateTime)]
    started_at: String,
    #[schema(format = DateTime)]
    ended_at: Option<String>,
}

impl From<TaskRun> for ScheduledRun {
    fn from(run: TaskRun) -> Self {
        Self {
            due: time::text(run.due),
            state: run.state.as_str(),
            attempts: run.attempts,
            conversation: run.conversation,
            reason: run.reason,
            started_at: time::text(run.started),
            ended_at: run.ended.map(time::text),
        }
    }
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct RunFilter {
    /// Only runs in this state. Due times that were missed have the state `skipped`.
    #[param(schema_with = run_states, required = false)]
    state: Option<TaskRunState>,
    /// The maximum number of items on the page.
    #[param(minimum = 1, maximum = 100, default = 100)]
    limit: Option<u32>,
    /// The `next` of the previous page.
    cursor: Option<String>,
}

/// Lists the runs of a task and the due times that were skipped, latest due time first. The runs of a deleted task are listed as well; the list is empty if
/// there never was such a task.
#[utoipa::path(get, path = "/v1/scheduled-tasks/{task}/runs", tag = "scheduled-tasks",
    params(("task" = String, Path, description = "The id of the task"), RunFilter),
    responses((status = 200, description = "A page of runs", body = Page<ScheduledRun>)))]
async fn list_task_runs(
    State(admin): State<Shared>,
    caller: Caller,
    Id(task): Id<String>,
    Query(query): Query<RunFilter>,
) -> Answer {
    let paging = Paging::<i64>::new(query.limit, query.cursor.as_deref())?;
    let filter = TaskRunFilter {
        state: query.state,
        limit: Some(paging.rows()),
        before: paging.after.map(Timestamp::from_millis),
    };
    let task = id(&caller, task)?;
    let rows = ScheduleStore::list_task_runs(&*admin.store, &task, &filter).await;
    let rows = rows.map_err(|error| Problem::of_store(&error, WHAT))?;
    let page = paging.page(rows, |run| run.due.as_millis(), ScheduledRun::from);
    Ok(answer(json(&page)))
}

/// Whether a task runs when it is due.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct TaskSwitch {
    enabled: bool,
}

/// Returns the change that enables or disables a task.
fn switched(row: &TaskRow, enabled: bool) -> Result<TaskUpdate, Problem> {
    let at = Timestamp::now();
    let mut due = row.due;
    if enabled && !row.enabled {
        // An enabled task does not run for due times that passed while it was disabled.
        due = next_due(&row.definition.timing, at)
            .map_err(|error| Problem::new(Kind::Conflict, error.to_string()))?;
        if due.is_none() {
            return Err(Problem::new(
                Kind::Conflict,
                "the task is never due again, so it cannot be enabled: create a new task",
            ));
        }
    }
    Ok(TaskUpdate {
        definition: row.definition.clone(),
        enabled,
        due,
        error: None,
        at,
    })
}

/// Enables or disables a task. An enabled task begins at its next due time. It does not run for due times that passed while it was disabled.
///
/// A run that a process drives continues. If the task is disabled, a run that waits for its next attempt ends. A change resets the number of errors.
#[utoipa::path(put, path = "/v1/scheduled-tasks/{task}/enabled", tag = "scheduled-tasks",
    params(("task" = String, Path, description = "The id of the task"),
        ("If-Match" = Option<String>, Header, description = "The `ETag` of the task that was read")),
    request_body = TaskSwitch,
    responses((status = 200, description = "The task", body = ScheduledTask, headers(("ETag" = String, description = "The version of the task")))))]
async fn enable_scheduled_task(
    State(admin): State<Shared>,
    caller: Caller,
    Id(task): Id<String>,
    tags: IfMatch,
    Body(TaskSwitch { enabled }): Body<TaskSwitch>,
) -> Answer {
    let row = find(&admin, &id(&caller, task)?).await?;
    let current = json(&ScheduledTask::from(&row));
    tags.check(&tag(&current))?;
    if row.enabled == enabled {
        // The repetition of a request does not end a run that waits for its next attempt.
        return Ok(tagged(current));
    }
    let wanted = Wanted {
        details: json!({ "task": row.id.id(), "enabled": enabled }),
        change: Change::Record(RecordChange::UpdateTask {
            update: Box::new(switched(&row, enabled)?),
            expected: row.version,
            id: row.id,
        }),
        action: "scheduled_task.enable",
        request: "",
        what: WHAT,
    };
    let none = Idempotency(None);
    Ok(tagged(admin.change(&caller, none, wanted, respond).await?))
}

/// Deletes a task. Its runs are kept until the retention period of runs ends; a run that has not ended fails, and its process stops it when it next extends its lease.
#[utoipa::path(delete, path = "/v1/scheduled-tasks/{task}", tag = "scheduled-tasks",
    params(("task" = String, Path, description = "The id of the task"),
        ("If-Match" = Option<String>, Header, description = "The `ETag` of the task that was read")),
    responses((status = 200, description = "The task was deleted", body = ChangeOutcome)))]
async fn remove_scheduled_task(
    State(admin): State<Shared>,
    caller: Caller,
    Id(task): Id<String>,
    tags: IfMatch,
) -> Answer {
    let id = id(&caller, task)?;
    let mut expected = None;
    if tags.is_given() {
        let row = find(&admin, &id).await?;
        tags.check(&tag(&json(&ScheduledTask::from(&row))))?;
        expected = Some(row.version);
    }
    let wanted = Wanted {
        details: json!({ "task": id.id() }),
        change: Change::Record(RecordChange::RemoveTask {
            id,
            expected,
            at: Timestamp::now(),
        }),
        action: "scheduled_task.delete",
        request: "",
        what: WHAT,
    };
    let none = Idempotency(None);
    Ok(answer(admin.change(&caller, none, wanted, outcome).await?))
}
