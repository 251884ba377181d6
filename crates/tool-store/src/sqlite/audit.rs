//! Audit rows in SQLite.

use crate::env;
use crate::sql::batches::Batches;
use crate::sql::records::audit as read;
use crate::store::{
    AuditFilter, AuditRow, AuditSink, Journal, Scope, StoreError, StoreFuture, Timestamp, Workspace,
};
use sqlx::sqlite::SqliteConnection;
use sqlx::{QueryBuilder, Sqlite};

use super::queue::Priority;
use super::{Fault, SqliteStore, narrow, narrow_to_scope, page, step};

macro_rules! columns {
    () => {
        "workspace, key, place, call, thread, principal, runtime_user, agent, session, tool, contract, effect, layer, decision, policy, \
         approval, approver, outcome, error, arguments, original_hash, used_hash, output, output_bytes, attempt, started, \
         duration_us, notes"
    };
}

macro_rules! values {
    () => {
        "?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, \
         ?23, ?24, ?25, ?26, ?27, ?28"
    };
}

/// The statement that removes the rows of one user, except the rows of changes that the user made as an operator.
pub(super) const ERASE: &str = "DELETE FROM audit WHERE principal = ? AND workspace = ? AND NOT (original_hash = '' AND contract IS NULL AND notes <> '[]')";

/// Returns the statement that removes at most `most` rows of a scope whose call began, or whose change was made, before a time.
pub(super) fn retention(scope: Scope<'_>, since: Timestamp, most: u32) -> QueryBuilder<Sqlite> {
    let mut query = QueryBuilder::new(
        "DELETE FROM audit WHERE rowid IN (SELECT rowid FROM audit WHERE started < ",
    );
    query.push_bind(since.as_millis());
    narrow_to_scope(&mut query, scope);
    query.push(" LIMIT ").push_bind(most).push(")");
    query
}

/// Returns the query for the rows of a scope that match a filter.
pub(super) fn listing(scope: Scope<'_>, filter: &AuditFilter) -> QueryBuilder<Sqlite> {
    let mut query = QueryBuilder::new(concat!("SELECT ", columns!(), " FROM audit WHERE TRUE"));
    narrow_to_scope(&mut query, scope);
    narrow(&mut query, "principal", filter.principal.as_deref());
    narrow(&mut query, "tool", filter.tool.as_deref());
    narrow(&mut query, "call", filter.call.as_deref());
    if let Some(since) = filter.since {
        query.push(" AND started >= ").push_bind(since.as_millis());
    }
    if let Some(until) = filter.until {
        query.push(" AND started < ").push_bind(until.as_millis());
    }
    narrow(&mut query, "thread", filter.thread.as_deref());
    narrow(&mut query, "decision", filter.decision.as_deref());
    narrow(&mut query, "outcome", filter.outcome.as_deref());
    if filter
        .outcome
        .as_deref()
        .is_some_and(|outcome| outcome != "ok")
    {
        // The partial index on outcomes has this condition.
        query.push(" AND outcome <> 'ok'");
    }
    if filter.failed {
        // The partial index on failures has this condition.
        query.push(
            " AND outcome IS NOT NULL AND outcome NOT IN ('ok', 'pending', 'unavailable', 'interrupted')",
        );
    }
    let after = filter.after.as_ref();
    let after = after.map(|(at, key)| (*at, ["", key.workspace().as_str(), key.as_str()]));
    let order = ["started", "workspace", "key"];
    page(&mut query, order, filter.newest_first, after, filter.limit);
    query
}

/// The statement that inserts a row, or ends the row of the same identity unless its outcome is final. The end of a call updates no indexed column
/// except the outcome, and no index contains `ok`, so it usually writes no index. `REPLACE` would remove the row from all indexes and add it again.
const END: &str = concat!(
    "INSERT INTO audit (",
    columns!(),
    ") VALUES (",
    values!(),
    ") ON CONFLICT (workspace, key) DO UPDATE SET ",
    "place = excluded.place, runtime_user = excluded.runtime_user, agent = excluded.agent,  \
         session = excluded.session, contract = excluded.contract, effect = excluded.effect, layer = excluded.layer,  \
         policy = excluded.policy, approval = excluded.approval,  \
         approver = excluded.approver, outcome = excluded.outcome, error = excluded.error,  \
         arguments = excluded.arguments, original_hash = excluded.original_hash, used_hash = excluded.used_hash,  \
         output = excluded.output, output_bytes = excluded.output_bytes, attempt = excluded.attempt,  \
         duration_us = excluded.duration_us, notes = excluded.notes",
    " WHERE (call, thread, principal, tool, decision, started) IS  \
         (excluded.call, excluded.thread, excluded.principal, excluded.tool, excluded.decision, excluded.started)",
    " AND (outcome IS NULL OR outcome IN (SELECT value FROM json_each(?29)))"
);

/// The statement that runs if [`END`] has written no row. It replaces the row of the same identity, whose call, conversation, user, tool, decision or
/// start time is different, unless the outcome of that row is final.
const REPLACE: &str = concat!(
    "REPLACE INTO audit (",
    columns!(),
    ") SELECT ",
    values!(),
    " WHERE NOT EXISTS (SELECT 1 FROM audit WHERE workspace = ?1 AND key = ?2
                        AND outcome IS NOT NULL AND outcome NOT IN (SELECT value FROM json_each(?29)))"
);

/// Inserts a row, or replaces the row of the same identity unless its outcome is final.
pub(super) async fn save(db: &mut SqliteConnection, row: &AuditRow) -> Result<(), Fault> {
    let notes = serde_json::to_string(&row.notes)
        .map_err(|error| StoreError::Unavailable(Box::new(error)))?;
    let open = serde_json::to_string(AuditRow::OPEN)
        .map_err(|error| StoreError::Unavailable(Box::new(error)))?;
    let (key, place) = (row.identity.key(), row.identity.to_column());
    for statement in [END, REPLACE] {
        let done = sqlx::query(statement)
            .bind(row.identity.workspace().as_str())
            .bind(key.as_str())
            .bind(&place)
            .bind(&row.call)
            .bind(&row.thread)
            .bind(&row.principal)
            .bind(&row.runtime_user)
            .bind(&row.agent)
            .bind(&row.session)
            .bind(&row.tool)
            .bind(&row.contract)
            .bind(row.effect)
            .bind(&row.layer)
            .bind(&row.decision)
            .bind(&row.policy)
            .bind(&row.approval)
            .bind(&row.approver)
            .bind(&row.outcome)
            .bind(&row.error)
            .bind(&row.arguments)
            .bind(&row.original_hash)
            .bind(&row.used_hash)
            .bind(&row.output)
            .bind(row.output_bytes.map(u64::cast_signed))
            .bind(row.attempt)
            .bind(row.started.as_millis())
            .bind(row.duration_us.map(u64::cast_signed))
            .bind(&notes)
            .bind(&open)
            .execute(&mut *db)
            .await?;
        if done.rows_affected() > 0 {
            break;
        }
    }
    Ok(())
}

impl AuditSink for SqliteStore {
    fn journal(&self) -> Option<Journal> {
        Some(self.as_journal())
    }

    fn write(&self, rows: Vec<AuditRow>) -> StoreFuture<'_, ()> {
        step(async move {
            // The row of a call that has ended is written before the rows of calls that wait to begin, whether or not the call has a ledger row.
            let ends = rows.iter().any(|row| row.outcome.is_some());
            let turn = if ends {
                Priority::First
            } else {
                Priority::Ordinary
            };
            let written = self.writer.change(turn, |db| {
                Box::pin(async move {
                    for row in &rows {
                        save(&mut *db, row).await?;
                    }
                    Ok(())
                })
            });
            written.await
        })
    }

    fn export<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a AuditFilter,
    ) -> StoreFuture<'a, Vec<AuditRow>> {
        step(async move {
            let rows = listing(scope, filter)
                .build()
                .fetch_all(&self.readers)
                .await?;
            Ok(rows.iter().map(read).collect::<Result<_, _>>()?)
        })
    }

    fn erase<'a>(&'a self, workspace: &'a Workspace, principal: &'a str) -> StoreFuture<'a, u64> {
        step(async move {
            let erased = sqlx::query(ERASE);
            let erased = self
                .update(erased.bind(principal).bind(workspace.as_str()))
                .await?;
            self.forget().await?;
            Ok(erased)
        })
    }

    fn retain<'a>(&'a self, scope: Scope<'a>, since: Timestamp) -> StoreFuture<'a, u64> {
        step(async move {
            let (mut removed, mut batches) = (0, Batches::new());
            loop {
                let mut batch = retention(scope, since, batches.size());
                let removing = self.change(|db| {
                    Box::pin(async move {
                        let began = env::monotonic();
                        let rows = batch.build().execute(db).await?.rows_affected();
                        Ok((rows, env::elapsed(began)))
                    })
                });
                let (rows, took) = removing.await?;
                removed += rows;
                if !batches.next(rows, took) {
                    return Ok(removed);
                }
            }
        })
    }
}
