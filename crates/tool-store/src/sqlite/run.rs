//! The table of runs in SQLite.

use crate::sql::records::run as read;
use crate::store::{
    Journal, NewRun, RunBegun, RunCause, RunEnd, RunFilter, RunId, RunProgress, RunRow, RunState,
    RunStop, RunStore, Scope, StoreFuture, Timestamp,
};
use sqlx::sqlite::SqliteConnection;
use sqlx::{QueryBuilder, Sqlite};

use super::{Fault, SqliteStore, narrow, narrow_to_scope, step};

macro_rules! columns {
    () => {
        "workspace, conversation, number, principal, agent, owner, lease_until, state, cause, stop, started, ended, attempt, steps, \
         input_tokens, cache_read_tokens, cache_write_5m_tokens, cache_write_1h_tokens, output_tokens, reasoning_tokens, unmeasured, \
         cost_micros"
    };
}

/// The query for the running run of a thread.
pub(super) const FIND_RUNNING: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM run WHERE workspace = ? AND conversation = ? AND state = 'running'"
);

/// The query for a run by its number.
pub(super) const FIND: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM run WHERE workspace = ? AND conversation = ? AND number = ?"
);

/// Returns the query for the runs of a scope that match a filter.
pub(super) fn listing(scope: Scope<'_>, filter: &RunFilter) -> QueryBuilder<Sqlite> {
    let mut query = QueryBuilder::new(concat!("SELECT ", columns!(), " FROM run WHERE TRUE"));
    narrow_to_scope(&mut query, scope);
    narrow(&mut query, "conversation", filter.conversation.as_deref());
    narrow(&mut query, "state", filter.state.map(RunState::as_str));
    if let Some(last) = &filter.after {
        let thread = last.id.thread();
        query.push(" AND (started, workspace, conversation, number) < (");
        query.push_bind(last.started.as_millis()).push(", ");
        query.push_bind(thread.workspace().as_str().to_owned());
        query.push(", ");
        query.push_bind(thread.conversation().to_owned());
        query.push(", ");
        query.push_bind(stored(last.id.number())).push(")");
    }
    query.push(" ORDER BY started DESC, workspace DESC, conversation DESC, number DESC");
    if let Some(limit) = filter.limit {
        query.push(" LIMIT ").push_bind(limit);
    }
    query
}

/// Returns a number as a SQLite integer.
fn stored(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

async fn find(db: &mut SqliteConnection, id: &RunId) -> Result<Option<RunRow>, Fault> {
    let row = sqlx::query(FIND)
        .bind(id.workspace().as_str())
        .bind(id.thread().conversation())
        .bind(stored(id.number()))
        .fetch_optional(db)
        .await?;
    Ok(row.as_ref().map(read).transpose()?)
}

/// Inserts a row, or replaces the row with the same id.
async fn save(db: &mut SqliteConnection, row: &RunRow) -> Result<(), Fault> {
    let usage = row.progress.usage;
    sqlx::query(concat!(
        "INSERT INTO run (",
        columns!(),
        ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (workspace, conversation, number) DO UPDATE SET \
         principal = excluded.principal, agent = excluded.agent, owner = excluded.owner, lease_until = excluded.lease_until, \
         state = excluded.state, cause = excluded.cause, stop = excluded.stop, started = excluded.started, ended = excluded.ended, \
         attempt = excluded.attempt, steps = excluded.steps, input_tokens = excluded.input_tokens, \
         cache_read_tokens = excluded.cache_read_tokens, cache_write_5m_tokens = excluded.cache_write_5m_tokens, \
         cache_write_1h_tokens = excluded.cache_write_1h_tokens, output_tokens = excluded.output_tokens, \
         reasoning_tokens = excluded.reasoning_tokens, unmeasured = excluded.unmeasured, cost_micros = excluded.cost_micros"
    ))
    .bind(row.id.workspace().as_str())
    .bind(row.id.thread().conversation())
    .bind(stored(row.id.number()))
    .bind(&row.principal)
    .bind(&row.agent)
    .bind(&row.owner)
    .bind(row.lease_until.as_millis())
    .bind(row.state.as_str())
    .bind(row.cause.map(RunCause::as_str))
    .bind(row.stop.map(RunStop::as_str))
    .bind(row.started.as_millis())
    .bind(row.ended.map(Timestamp::as_millis))
    .bind(row.attempt)
    .bind(row.progress.steps)
    .bind(stored(usage.input_tokens))
    .bind(usage.cache_read_tokens.map(stored))
    .bind(usage.cache_write_5m_tokens.map(stored))
    .bind(usage.cache_write_1h_tokens.map(stored))
    .bind(stored(usage.output_tokens))
    .bind(usage.reasoning_tokens.map(stored))
    .bind(row.progress.unmeasured)
    .bind(usage.cost_micros.map(stored))
    .execute(db)
    .await?;
    Ok(())
}

/// Applies `step` to a row. Returns the step's result and the new row. Stores the row if the step returned true.
pub(super) async fn change_row(
    db: &mut SqliteConnection,
    id: &RunId,
    step: impl FnOnce(&mut RunRow) -> bool,
) -> Result<Option<(bool, RunRow)>, Fault> {
    let Some(mut row) = find(&mut *db, id).await? else {
        return Ok(None);
    };
    let changed = step(&mut row);
    if changed {
        save(db, &row).await?;
    }
    Ok(Some((changed, row)))
}

impl SqliteStore {
    /// Runs [`change_row`] before all ordinary changes that wait. In the order of arrival, it could run only after the lease has expired.
    async fn step_run(
        &self,
        id: &RunId,
        step: impl FnOnce(&mut RunRow) -> bool + Send + 'static,
    ) -> Result<Option<(bool, RunRow)>, Fault> {
        let id = id.clone();
        self.change_first(move |db| Box::pin(async move { change_row(db, &id, step).await }))
            .await
    }
}

/// Implements [`RunStore::begin_run`].
pub(super) async fn begin(db: &mut SqliteConnection, new: NewRun) -> Result<RunBegun, Fault> {
    let thread = new.thread.clone();
    let (workspace, conversation) = (thread.workspace().as_str(), thread.conversation());
    let running = sqlx::query(FIND_RUNNING)
        .bind(workspace)
        .bind(conversation)
        .fetch_optional(&mut *db)
        .await?;
    let running = running.as_ref().map(read).transpose()?;
    let last: Option<i64> =
        sqlx::query_scalar("SELECT last_run FROM thread WHERE workspace = ? AND conversation = ?")
            .bind(workspace)
            .bind(conversation)
            .fetch_optional(&mut *db)
            .await?;
    let next = last.unwrap_or(0).cast_unsigned() + 1;
    let (begun, rows) = RunRow::begin(running, new, next);
    for row in &rows {
        save(&mut *db, row).await?;
    }
    if rows.iter().any(|row| row.id.number() == next) {
        sqlx::query(
            "INSERT INTO thread (workspace, conversation, last, last_run) VALUES (?, ?, 0, 1)
                 ON CONFLICT (workspace, conversation) DO UPDATE SET last_run = last_run + 1",
        )
        .bind(workspace)
        .bind(conversation)
        .execute(&mut *db)
        .await?;
    }
    Ok(begun)
}

impl RunStore for SqliteStore {
    fn journal(&self) -> Option<Journal> {
        Some(self.as_journal())
    }

    fn begin_run(&self, run: NewRun) -> StoreFuture<'_, RunBegun> {
        step(self.change(|db| Box::pin(begin(db, run))))
    }

    fn renew_run<'a>(
        &'a self,
        id: &'a RunId,
        owner: &'a str,
        until: Timestamp,
        progress: RunProgress,
    ) -> StoreFuture<'a, Option<RunRow>> {
        step(async move {
            let owner = owner.to_owned();
            let renewed = self.step_run(id, move |row| row.renew(&owner, until, progress));
            Ok(renewed
                .await?
                .and_then(|(renewed, row)| renewed.then_some(row)))
        })
    }

    fn end_run<'a>(&'a self, id: &'a RunId, owner: &'a str, end: RunEnd) -> StoreFuture<'a, bool> {
        step(async move {
            let owner = owner.to_owned();
            let ended = self.step_run(id, move |row| row.end(&owner, end)).await?;
            Ok(ended.is_some_and(|(ended, _)| ended))
        })
    }

    fn stop_run<'a>(&'a self, id: &'a RunId, stop: RunStop) -> StoreFuture<'a, Option<RunRow>> {
        step(async move {
            let stopped = self.step_run(id, move |row| row.stop(stop)).await?;
            Ok(stopped.map(|(_, row)| row))
        })
    }

    fn get_run<'a>(&'a self, id: &'a RunId) -> StoreFuture<'a, Option<RunRow>> {
        step(async move {
            let mut reader = self.readers.acquire().await?;
            find(&mut reader, id).await
        })
    }

    fn list_runs<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a RunFilter,
    ) -> StoreFuture<'a, Vec<RunRow>> {
        step(async move {
            let mut query = listing(scope, filter);
            let rows = query.build().fetch_all(&self.readers).await?;
            Ok(rows.iter().map(read).collect::<Result<_, _>>()?)
        })
    }

    fn retain_runs<'a>(&'a self, scope: Scope<'a>, since: Timestamp) -> StoreFuture<'a, u64> {
        step(async move {
            let mut query = QueryBuilder::new("DELETE FROM run WHERE ended < ");
            query.push_bind(since.as_millis());
            narrow_to_scope(&mut query, scope);
            self.update_built(query).await
        })
    }
}
