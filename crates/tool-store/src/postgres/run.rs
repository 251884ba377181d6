//! The table of runs in PostgreSQL.

use crate::sql::columns::Columns;
use crate::sql::records::run as read;
use crate::store::{
    Journal, NewRun, RunBegun, RunCause, RunEnd, RunFilter, RunId, RunProgress, RunRow, RunState,
    RunStop, RunStore, Scope, StoreError, StoreFuture, ThreadId, Timestamp, Workspace,
};
use sqlx::postgres::PgRow;
use sqlx::{Postgres, QueryBuilder};

use super::change::{Change, change, fetch};
use super::{Column, Fault, PostgresStore, Value, narrow, narrow_to_scope, page, step, stored};

macro_rules! columns {
    () => {
        "workspace, conversation, number, principal, agent, owner, lease_until, lapses, state, cause, stop, started, ended, attempt, steps, \
         input_tokens, cache_read_tokens, cache_write_5m_tokens, cache_write_1h_tokens, output_tokens, reasoning_tokens, unmeasured, \
         cost_micros"
    };
}

/// The query for the running run of a thread, with a lock on the row.
pub(super) const FIND_RUNNING: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM tool_store.run WHERE workspace = $1 AND conversation = $2 AND state = 'running' FOR UPDATE"
);

macro_rules! find {
    () => {
        concat!(
            "SELECT ",
            columns!(),
            " FROM tool_store.run WHERE workspace = $1 AND conversation = $2 AND number = $3"
        )
    };
}

/// The query for a run by its number.
pub(super) const FIND: &str = find!();

/// The query [`FIND`] with a lock on the row.
pub(super) const LOCK: &str = concat!(find!(), " FOR UPDATE");

/// Returns the query for the runs of a scope that match a filter.
pub(super) fn listing(scope: Scope<'_>, filter: &RunFilter) -> QueryBuilder<Postgres> {
    let mut query = QueryBuilder::new(concat!(
        "SELECT ",
        columns!(),
        " FROM tool_store.run WHERE TRUE"
    ));
    narrow_to_scope(&mut query, scope);
    narrow(&mut query, "conversation", filter.conversation.as_deref());
    narrow(&mut query, "state", filter.state.map(RunState::as_str));
    let columns = [
        Column::new("started", None),
        Column::new("workspace", scope.workspace().map(Workspace::as_str)),
        Column::new("conversation", filter.conversation.as_deref()),
        Column::new("number", None),
    ];
    let after = filter.after.as_ref().map(|last| {
        [
            Value::Number(last.started.as_millis()),
            Value::Text(last.id.workspace().as_str()),
            Value::Text(last.id.thread().conversation()),
            Value::Number(stored(last.id.number())),
        ]
    });
    let after = after.as_ref().map(<[_; 4]>::as_slice);
    page(&mut query, &columns, true, after, filter.limit);
    query
}

/// Reads a run and the end of its lease by the deciding clock.
fn read_lease(row: &PgRow) -> Result<(RunRow, i64), StoreError> {
    let lapses = Columns::new(row, "run", "conversation").get("lapses")?;
    Ok((read(row)?, lapses))
}

/// Inserts a row, or replaces the row with the same id.
async fn save(db: &mut Change<'_>, row: &RunRow, lapses: i64) -> Result<(), Fault> {
    let usage = row.progress.usage;
    db.query(concat!(
        "INSERT INTO tool_store.run (",
        columns!(),
        ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23) \
         ON CONFLICT (workspace, conversation, number) DO UPDATE SET principal = excluded.principal, agent = excluded.agent, \
         owner = excluded.owner, lease_until = excluded.lease_until, lapses = excluded.lapses, state = excluded.state, \
         cause = excluded.cause, stop = excluded.stop, started = excluded.started, ended = excluded.ended, \
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
    .bind(lapses)
    .bind(row.state.as_str())
    .bind(row.cause.map(RunCause::as_str))
    .bind(row.stop.map(RunStop::as_str))
    .bind(row.started.as_millis())
    .bind(row.ended.map(Timestamp::as_millis))
    .bind(i64::from(row.attempt))
    .bind(i64::from(row.progress.steps))
    .bind(stored(usage.input_tokens))
    .bind(usage.cache_read_tokens.map(stored))
    .bind(usage.cache_write_5m_tokens.map(stored))
    .bind(usage.cache_write_1h_tokens.map(stored))
    .bind(stored(usage.output_tokens))
    .bind(usage.reasoning_tokens.map(stored))
    .bind(i64::from(row.progress.unmeasured))
    .bind(usage.cost_micros.map(stored))
    .execute(&mut **db)
    .await?;
    Ok(())
}

/// Converts the lease of a row to the caller's clock for a step. Returns the stored lease, so that [`Lease::restore`] can undo the conversion.
fn seen(db: &Change<'_>, row: &mut RunRow, lapses: i64, now: Timestamp) -> Lease {
    let stored = (row.lease_until, lapses);
    row.lease_until = db.clock.seen(lapses, row.lease_until, now);
    Lease {
        stored,
        seen: row.lease_until,
        owner: row.owner.clone(),
    }
}

/// The lease of a run before a step.
struct Lease {
    stored: (Timestamp, i64),
    /// The same lease in the caller's clock.
    seen: Timestamp,
    owner: String,
}

impl Lease {
    /// Restores the stored lease of a row, unless the step changed its owner or deadline. Returns the end of the lease by the deciding clock.
    fn restore(&self, db: &Change<'_>, row: &mut RunRow, now: Timestamp) -> i64 {
        if row.owner != self.owner || row.lease_until != self.seen {
            return db.clock.lapses(row.lease_until, now);
        }
        row.lease_until = self.stored.0;
        self.stored.1
    }
}

/// Applies `step` to a row. `now` is the time of the step by the caller's clock. Returns the step's result and the new row. Stores the row if
/// the step returned true.
pub(super) async fn change_row(
    db: &mut Change<'_>,
    id: &RunId,
    now: Timestamp,
    step: impl FnOnce(&mut RunRow) -> bool,
) -> Result<Option<(bool, RunRow)>, Fault> {
    let found = db
        .query(LOCK)
        .bind(id.workspace().as_str())
        .bind(id.thread().conversation())
        .bind(stored(id.number()))
        .fetch_optional(&mut **db)
        .await?;
    let Some((mut row, lapses)) = found.as_ref().map(read_lease).transpose()? else {
        return Ok(None);
    };
    let lease = seen(db, &mut row, lapses, now);
    let changed = step(&mut row);
    let lapses = lease.restore(db, &mut row, now);
    if changed {
        save(db, &row, lapses).await?;
    }
    Ok(Some((changed, row)))
}

/// Locks the row of a thread, and creates it if it is missing. Returns the number of the last run.
pub(super) async fn lock_thread(db: &mut Change<'_>, thread: &ThreadId) -> Result<u64, Fault> {
    let (workspace, conversation) = (thread.workspace().as_str(), thread.conversation());
    // The no-op update locks the row.
    let last: i64 = db.scalar(
        "INSERT INTO tool_store.thread AS t (workspace, conversation, last, last_run) VALUES ($1, $2, 0, 0)
         ON CONFLICT (workspace, conversation) DO UPDATE SET last_run = t.last_run RETURNING last_run",
    )
    .bind(workspace)
    .bind(conversation)
    .fetch_one(&mut **db)
    .await?;
    Ok(last.cast_unsigned())
}

/// Implements [`RunStore::begin_run`].
pub(super) async fn begin(db: &mut Change<'_>, new: &NewRun) -> Result<RunBegun, Fault> {
    let thread = new.thread.clone();
    let (workspace, conversation) = (thread.workspace().as_str(), thread.conversation());
    let next = lock_thread(db, &thread).await? + 1;
    let running = db
        .query(FIND_RUNNING)
        .bind(workspace)
        .bind(conversation)
        .fetch_optional(&mut **db)
        .await?;
    let mut running = running.as_ref().map(read_lease).transpose()?;
    let lease = running
        .as_mut()
        .map(|(row, lapses)| seen(db, row, *lapses, new.at));
    let (mut begun, rows) = RunRow::begin(running.map(|(row, _)| row), new.clone(), next);
    let restore = |row: &mut RunRow| match &lease {
        Some(lease) => lease.restore(db, row, new.at),
        None => db.clock.lapses(row.lease_until, new.at),
    };
    let (RunBegun::Begun(row) | RunBegun::Busy(row)) = &mut begun;
    restore(row);
    let mut changed = Vec::new();
    for mut row in rows {
        let lapses = restore(&mut row);
        changed.push((row, lapses));
    }
    for (row, lapses) in &changed {
        save(db, row, *lapses).await?;
    }
    if changed.iter().any(|(row, _)| row.id.number() == next) {
        db.query(
            "UPDATE tool_store.thread SET last_run = last_run + 1 WHERE workspace = $1 AND conversation = $2",
        )
        .bind(workspace)
        .bind(conversation)
        .execute(&mut **db)
        .await?;
    }
    Ok(begun)
}

impl RunStore for PostgresStore {
    fn journal(&self) -> Option<Journal> {
        Some(self.as_journal())
    }

    fn begin_run(&self, run: NewRun) -> StoreFuture<'_, RunBegun> {
        step(async move { change!(self, Vec::new(), db => begin(db, &run).await) })
    }

    fn renew_run<'a>(
        &'a self,
        id: &'a RunId,
        owner: &'a str,
        until: Timestamp,
        progress: RunProgress,
    ) -> StoreFuture<'a, Option<RunRow>> {
        step(async move {
            let renewed: Result<_, Fault> = change!(self, Vec::new(), db => {
                let now = Timestamp::now();
                change_row(db, id, now, |row| row.renew(owner, until, progress)).await
            });
            Ok(renewed?.and_then(|(renewed, row)| renewed.then_some(row)))
        })
    }

    fn end_run<'a>(&'a self, id: &'a RunId, owner: &'a str, end: RunEnd) -> StoreFuture<'a, bool> {
        step(async move {
            let ended: Result<_, Fault> = change!(self, Vec::new(), db => {
                change_row(db, id, end.at, |row| row.end(owner, end)).await
            });
            Ok(ended?.is_some_and(|(ended, _)| ended))
        })
    }

    fn stop_run<'a>(&'a self, id: &'a RunId, stop: RunStop) -> StoreFuture<'a, Option<RunRow>> {
        step(async move {
            let stopped: Result<_, Fault> = change!(self, Vec::new(), db => {
                change_row(db, id, Timestamp::now(), |row| row.stop(stop)).await
            });
            Ok(stopped?.map(|(_, row)| row))
        })
    }

    fn get_run<'a>(&'a self, id: &'a RunId) -> StoreFuture<'a, Option<RunRow>> {
        step(async move {
            let row = fetch!(
                self,
                fetch_optional,
                sqlx::query(FIND)
                    .bind(id.workspace().as_str())
                    .bind(id.thread().conversation())
                    .bind(stored(id.number()))
            );
            Ok(row.as_ref().map(read).transpose()?)
        })
    }

    fn list_runs<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a RunFilter,
    ) -> StoreFuture<'a, Vec<RunRow>> {
        step(async move {
            let rows = fetch!(self, fetch_all, listing(scope, filter).build());
            Ok(rows.iter().map(read).collect::<Result<_, _>>()?)
        })
    }

    fn retain_runs<'a>(&'a self, scope: Scope<'a>, since: Timestamp) -> StoreFuture<'a, u64> {
        step(async move {
            change!(self, Vec::new(), db => {
                let mut query = QueryBuilder::new("DELETE FROM tool_store.run WHERE ended < ");
                query.push_bind(since.as_millis());
                narrow_to_scope(&mut query, scope);
                Ok(query.build().persistent(db.is_named()).execute(&mut **db).await?.rows_affected())
            })
        })
    }
}
