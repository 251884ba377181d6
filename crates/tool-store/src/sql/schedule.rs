//! Rows and statements of scheduled tasks.

use std::time::Duration;

use crate::store::{
    NewTask, Scope, StoreError, TaskAttempt, TaskClaim, TaskFilter, TaskId, TaskRow, TaskRun,
    TaskRunFilter, TaskRunState, TaskStep, TaskUpdate, ThreadId, Timestamp, Workspace,
};

use super::columns::{Columns, SqlRow};
use super::statement::{SqlChange, SqlDatabase, SqlReader, Statement, Value};

const TASKS: &str = "task";

const RUNS: &str = "task_run";

const TASK_COLUMNS: &str = "workspace, id, principal, definition, enabled, due, requested, running, token, worker, errors, last_error, ready, version, \
     created, updated";

const RUN_COLUMNS: &str =
    "workspace, task, due, principal, state, attempts, conversation, reason, started, ended";

fn read_task(row: &impl SqlRow) -> Result<TaskRow, StoreError> {
    let columns = Columns::new(row, TASKS, "id");
    let id = TaskId::new(&columns.workspace()?, columns.get::<&str>("id")?);
    let definition = columns.text("definition")?;
    let definition = serde_json::from_str(&definition);
    let mut task = TaskRow::new(NewTask {
        id: id.map_err(|error| columns.corrupt("id", error))?,
        principal: columns.maybe("principal")?,
        definition: definition.map_err(|error| columns.corrupt("definition", error))?,
        enabled: columns.get("enabled")?,
        due: columns.maybe_time("due")?,
        at: columns.time("created")?,
    });
    task.requested = columns.maybe_time("requested")?;
    task.running = columns.maybe_time("running")?;
    task.token = columns.maybe("token")?;
    task.worker = columns.maybe("worker")?;
    task.errors = columns.number("errors")?;
    task.last_error = columns.maybe_text("last_error")?;
    task.ready = columns.maybe_time("ready")?;
    task.version = columns.number("version")?;
    task.updated = columns.time("updated")?;
    Ok(task)
}

fn read_run(row: &impl SqlRow) -> Result<TaskRun, StoreError> {
    let columns = Columns::new(row, RUNS, "task");
    let task = TaskId::new(&columns.workspace()?, columns.get::<&str>("task")?);
    let task = task.map_err(|error| columns.corrupt("task", error))?;
    let state = columns.word("state", TaskRunState::from_word)?;
    let started = columns.time("started")?;
    let mut run = TaskRun::new(task, columns.time("due")?, state, started);
    run.principal = columns.maybe("principal")?;
    run.attempts = columns.number("attempts")?;
    run.conversation = columns.maybe("conversation")?;
    run.reason = columns.maybe_text("reason")?;
    run.ended = columns.maybe_time("ended")?;
    Ok(run)
}

/// Returns the query for the row of a task.
pub(crate) fn one<DB: SqlDatabase>(id: &TaskId) -> Statement<DB> {
    let mut query = Statement::select(TASK_COLUMNS, TASKS);
    query.push("workspace = ").bind(id.workspace().as_str());
    query.narrow("id", Some(id.id()));
    query
}

/// Returns the query for a page of tasks.
pub(crate) fn listing<DB: SqlDatabase>(scope: Scope<'_>, filter: &TaskFilter) -> Statement<DB> {
    let own = scope.workspace().map(Workspace::as_str);
    let mut query = Statement::select(TASK_COLUMNS, TASKS);
    query.push("TRUE").narrow("workspace", own);
    let after = filter.after.as_ref();
    let after = after.map(|after| (after.workspace(), after.id()));
    query.after(own, "id", after);
    query.limit(filter.limit);
    query
}

/// Returns the query for the tasks that may be claimed.
pub(crate) fn ready<DB: SqlDatabase>(at: Timestamp, limit: u32) -> Statement<DB> {
    let mut query = Statement::select(TASK_COLUMNS, TASKS);
    query.push("ready <= ").bind(at);
    query.push(" ORDER BY ready").limit(Some(limit));
    query
}

/// Narrows a statement that ends in `WHERE ` to the runs of a task.
fn runs_of<DB: SqlDatabase>(mut statement: Statement<DB>, task: &TaskId) -> Statement<DB> {
    statement
        .push("workspace = ")
        .bind(task.workspace().as_str());
    statement.narrow("task", Some(task.id()));
    statement
}

/// Returns the query for the runs of a task.
pub(crate) fn runs<DB: SqlDatabase>(task: &TaskId, filter: &TaskRunFilter) -> Statement<DB> {
    let mut query = runs_of(Statement::select(RUN_COLUMNS, RUNS), task);
    query.narrow("state", filter.state.map(TaskRunState::as_str));
    if let Some(before) = filter.before {
        query.push(" AND due < ").bind(before);
    }
    query.push(" ORDER BY due DESC").limit(filter.limit);
    query
}

async fn run<C: SqlChange>(
    db: &mut C,
    task: &TaskId,
    due: Timestamp,
) -> Result<Option<TaskRun>, C::Fault> {
    let rows = db.read(|| {
        let mut query = runs_of(Statement::select(RUN_COLUMNS, RUNS), task);
        query.narrow("due", Some(due));
        query
    });
    Ok(rows.await?.first().map(read_run).transpose()?)
}

fn task_values(row: &TaskRow) -> Result<[(&'static str, Value); 16], StoreError> {
    let definition = serde_json::to_string(&row.definition);
    let definition = definition.map_err(|error| StoreError::Corrupt(error.to_string()))?;
    Ok([
        ("workspace", row.workspace().as_str().into()),
        ("id", row.id.id().into()),
        ("principal", (&row.principal).into()),
        ("definition", Value::FreeText(Some(definition))),
        ("enabled", row.enabled.into()),
        ("due", row.due.into()),
        ("requested", row.requested.into()),
        ("running", row.running.into()),
        ("token", (&row.token).into()),
        ("worker", (&row.worker).into()),
        ("errors", row.errors.into()),
        ("last_error", Value::free(row.last_error.as_ref())),
        ("ready", row.ready.into()),
        ("version", row.version.into()),
        ("created", row.created.into()),
        ("updated", row.updated.into()),
    ])
}

/// Writes the columns that a step changes.
async fn save<C: SqlChange>(db: &mut C, row: &TaskRow) -> Result<(), C::Fault> {
    let changed = [
        "definition",
        "enabled",
        "due",
        "requested",
        "running",
        "token",
        "worker",
        "errors",
        "last_error",
        "ready",
        "version",
        "updated",
    ];
    let save = Statement::insert(TASKS, task_values(row)?);
    db.write(save.or_update("workspace, id", &changed)).await?;
    Ok(())
}

fn run_insertion<DB: SqlDatabase>(run: &TaskRun) -> Statement<DB> {
    let values: [(_, Value); 10] = [
        ("workspace", run.task.workspace().as_str().into()),
        ("task", run.task.id().into()),
        ("due", run.due.into()),
        ("principal", (&run.principal).into()),
        ("state", run.state.as_str().into()),
        ("attempts", run.attempts.into()),
        ("conversation", (&run.conversation).into()),
        ("reason", Value::free(run.reason.as_ref())),
        ("started", run.started.into()),
        ("ended", run.ended.into()),
    ];
    Statement::insert(RUNS, values)
}

async fn save_run<C: SqlChange>(db: &mut C, run: &TaskRun) -> Result<(), C::Fault> {
    let changed = ["state", "attempts", "conversation", "reason", "ended"];
    let save = run_insertion(run).or_update("workspace, task, due", &changed);
    db.write(save).await?;
    Ok(())
}

/// Returns the row of a task, and locks the row for a change.
async fn locked<C: SqlChange>(db: &mut C, id: &TaskId) -> Result<Option<TaskRow>, C::Fault> {
    let rows = db.read_locked(|| one(id)).await?;
    Ok(rows.first().map(read_task).transpose()?)
}

/// Writes or removes the row of a task after a step, and writes the run that the step changes.
async fn apply<C: SqlChange>(
    db: &mut C,
    row: &TaskRow,
    step: TaskStep,
    at: Timestamp,
) -> Result<(), C::Fault> {
    if let Some((due, state, reason)) = step.run
        && let Some(mut run) = run(db, &row.id, due).await?
    {
        run.step(state, reason, at);
        save_run(db, &run).await?;
    }
    if step.removed {
        let mut removal = Statement::delete(TASKS);
        removal.push("workspace = ").bind(row.workspace().as_str());
        removal.narrow("id", Some(row.id.id()));
        db.write(removal).await?;
    } else {
        save(db, row).await?;
    }
    Ok(())
}

/// Implements [`ScheduleStore::create_task`](crate::store::ScheduleStore::create_task).
pub(crate) async fn create<C: SqlChange>(db: &mut C, new: &NewTask) -> Result<TaskRow, C::Fault> {
    let row = TaskRow::new(new.clone());
    let mut insert = Statement::insert(TASKS, task_values(&row)?);
    insert.push(" ON CONFLICT (workspace, id) DO NOTHING");
    if db.write(insert).await? == 0 {
        return Err(new.exists().into());
    }
    Ok(row)
}

/// Implements [`ScheduleStore::task`](crate::store::ScheduleStore::task).
pub(crate) async fn task<R: SqlReader>(
    db: &mut R,
    id: &TaskId,
) -> Result<Option<TaskRow>, R::Fault> {
    let rows = db.read(|| one(id)).await?;
    Ok(rows.first().map(read_task).transpose()?)
}

/// Implements [`ScheduleStore::list_tasks`](crate::store::ScheduleStore::list_tasks).
pub(crate) async fn list<R: SqlReader>(
    db: &mut R,
    scope: Scope<'_>,
    filter: &TaskFilter,
) -> Result<Vec<TaskRow>, R::Fault> {
    let rows = db.read(|| listing(scope, filter)).await?;
    Ok(rows.iter().map(read_task).collect::<Result<_, _>>()?)
}

/// Implements [`ScheduleStore::ready_tasks`](crate::store::ScheduleStore::ready_tasks).
pub(crate) async fn ready_tasks<R: SqlReader>(
    db: &mut R,
    at: Timestamp,
    limit: u32,
) -> Result<Vec<TaskRow>, R::Fault> {
    let rows = db.read(|| ready(at, limit)).await?;
    Ok(rows.iter().map(read_task).collect::<Result<_, _>>()?)
}

/// Implements [`ScheduleStore::list_task_runs`](crate::store::ScheduleStore::list_task_runs).
pub(crate) async fn list_runs<R: SqlReader>(
    db: &mut R,
    id: &TaskId,
    filter: &TaskRunFilter,
) -> Result<Vec<TaskRun>, R::Fault> {
    let rows = db.read(|| runs(id, filter)).await?;
    Ok(rows.iter().map(read_run).collect::<Result<_, _>>()?)
}

/// Implements [`ScheduleStore::update_task`](crate::store::ScheduleStore::update_task).
pub(crate) async fn update<C: SqlChange>(
    db: &mut C,
    id: &TaskId,
    update: TaskUpdate,
    expected: u64,
) -> Result<Option<TaskRow>, C::Fault> {
    let Some(mut row) = locked(db, id).await? else {
        return Ok(None);
    };
    row.check(expected)?;
    let at = update.at;
    let step = row.update(update);
    apply(db, &row, step, at).await?;
    Ok(Some(row))
}

/// Implements [`ScheduleStore::request_task_run`](crate::store::ScheduleStore::request_task_run).
pub(crate) async fn request<C: SqlChange>(
    db: &mut C,
    id: &TaskId,
    at: Timestamp,
) -> Result<Option<TaskRow>, C::Fault> {
    let Some(mut row) = locked(db, id).await? else {
        return Ok(None);
    };
    row.request(at);
    save(db, &row).await?;
    Ok(Some(row))
}

/// Implements [`ScheduleStore::remove_task`](crate::store::ScheduleStore::remove_task).
/// Fails with `Stale` if the row has a different version than `expected`.
pub(crate) async fn remove<C: SqlChange>(
    db: &mut C,
    id: &TaskId,
    expected: Option<u64>,
    at: Timestamp,
) -> Result<bool, C::Fault> {
    let at = db.deciding(at);
    let Some(row) = locked(db, id).await? else {
        return Ok(false);
    };
    expected.map_or(Ok(()), |expected| row.check(expected))?;
    let step = row.remove();
    apply(db, &row, step, at).await?;
    Ok(true)
}

/// Implements [`ScheduleStore::claim_task`](crate::store::ScheduleStore::claim_task).
pub(crate) async fn claim<C: SqlChange>(
    db: &mut C,
    claim: TaskClaim,
) -> Result<Option<(TaskRow, TaskRun)>, C::Fault> {
    let claim = TaskClaim {
        at: db.deciding(claim.at),
        ..claim
    };
    let Some(mut row) = locked(db, &claim.id).await? else {
        return Ok(None);
    };
    if !row.is_claimable(&claim) {
        return Ok(None);
    }
    let stored = run(db, &claim.id, claim.due).await?;
    let ended = stored.as_ref();
    let ended = ended.is_some_and(|run| run.state != TaskRunState::Running);
    let step = row.claim(&claim, ended);
    for skipped in claim.skipped_runs(&row) {
        let mut insert = run_insertion(&skipped);
        insert.push(" ON CONFLICT (workspace, task, due) DO NOTHING");
        db.write(insert).await?;
    }
    apply(db, &row, step, claim.at).await?;
    if row.token.is_none() {
        return Ok(None);
    }
    let mut run = stored.unwrap_or_else(|| claim.run(&row));
    run.begin(&claim);
    save_run(db, &run).await?;
    Ok(Some((row, run)))
}

/// Implements [`ScheduleStore::extend_task`](crate::store::ScheduleStore::extend_task).
pub(crate) async fn extend<C: SqlChange>(
    db: &mut C,
    id: &TaskId,
    token: &str,
    lease: Duration,
    at: Timestamp,
) -> Result<bool, C::Fault> {
    let at = db.deciding(at);
    let Some(mut row) = locked(db, id).await? else {
        return Ok(false);
    };
    if !row.extend(token, lease, at) {
        return Ok(false);
    }
    save(db, &row).await?;
    Ok(true)
}

/// Implements [`ScheduleStore::end_task_attempt`](crate::store::ScheduleStore::end_task_attempt).
pub(crate) async fn end_attempt<C: SqlChange>(
    db: &mut C,
    id: &TaskId,
    token: &str,
    attempt: TaskAttempt,
) -> Result<bool, C::Fault> {
    let at = db.deciding(attempt.at);
    let Some(mut row) = locked(db, id).await? else {
        return Ok(false);
    };
    let Some(step) = row.end_attempt(token, TaskAttempt { at, ..attempt }) else {
        return Ok(false);
    };
    apply(db, &row, step, at).await?;
    Ok(true)
}

/// Removes the runs of an erased conversation.
pub(crate) async fn erase<C: SqlChange>(db: &mut C, thread: &ThreadId) -> Result<(), C::Fault> {
    let mut removal = Statement::delete(RUNS);
    removal.narrow_to_thread(thread);
    db.write(removal).await?;
    Ok(())
}

/// Returns the statement that removes the rows of a user.
pub(crate) fn user_removal<DB: SqlDatabase>(
    table: &str,
    workspace: &Workspace,
    user: &str,
) -> Statement<DB> {
    let mut removal = Statement::delete(table);
    removal.push("workspace = ").bind(workspace.as_str());
    removal.narrow("principal", Some(user));
    removal
}

/// Removes the tasks of a user, and all runs on behalf of the user, including runs of removed tasks.
pub(crate) async fn erase_user<C: SqlChange>(
    db: &mut C,
    workspace: &Workspace,
    user: &str,
) -> Result<(), C::Fault> {
    for table in [RUNS, TASKS] {
        db.write(user_removal(table, workspace, user)).await?;
    }
    Ok(())
}
