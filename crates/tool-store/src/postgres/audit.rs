//! Audit rows in PostgreSQL.

use crate::env;
use crate::sql::batches::Batches;
use crate::sql::records::audit as read;
use crate::store::{
    AuditFilter, AuditRow, AuditSink, Journal, Scope, StoreError, StoreFuture, Timestamp, Workspace,
};
use sqlx::{Postgres, QueryBuilder};

use super::change::{Change, change, fetch};
use super::text::storable;
use super::{Fault, PostgresStore, narrow, narrow_to_scope, page_by_key, step};

macro_rules! columns {
    () => {
        "workspace, key, place, call, thread, principal, runtime_user, agent, session, tool, contract, effect, layer, decision, policy, \
         approval, approver, outcome, error, arguments, original_hash, used_hash, output, output_bytes, attempt, started, \
         duration_us, notes"
    };
}

/// The statement that removes the rows of one user, except the rows of changes that the user made as an operator.
pub(super) const ERASE: &str = "DELETE FROM tool_store.audit WHERE principal = $1 AND workspace = $2 \
     AND NOT (original_hash = '' AND contract IS NULL AND notes <> '[]')";

/// Returns the statement that removes at most `most` rows of a scope whose call began, or whose change was made, before a time. It skips rows that a
/// different transaction has locked.
pub(super) fn retention(scope: Scope<'_>, since: Timestamp, most: u32) -> QueryBuilder<Postgres> {
    let mut query = QueryBuilder::new(
        "DELETE FROM tool_store.audit WHERE ctid = ANY(ARRAY(SELECT ctid FROM tool_store.audit WHERE started < ",
    );
    query.push_bind(since.as_millis());
    narrow_to_scope(&mut query, scope);
    query.push(" LIMIT ").push_bind(i64::from(most));
    query.push(" FOR UPDATE SKIP LOCKED))");
    query
}

/// Restricts a query to rows whose column equals `wanted`, a text that a model wrote. The condition on the first 200 characters lets PostgreSQL
/// use the index.
fn narrow_to_text(query: &mut QueryBuilder<Postgres>, column: &str, wanted: Option<&str>) {
    if let Some(wanted) = wanted.map(storable) {
        query.push(format_args!(" AND left({column}, 200) = left("));
        query.push_bind(wanted.clone().into_owned()).push(", 200)");
        narrow(query, column, Some(&wanted));
    }
}

/// Returns the query for the rows of a scope that match a filter.
pub(super) fn listing(scope: Scope<'_>, filter: &AuditFilter) -> QueryBuilder<Postgres> {
    let mut query = QueryBuilder::new(concat!(
        "SELECT ",
        columns!(),
        " FROM tool_store.audit WHERE TRUE"
    ));
    narrow_to_scope(&mut query, scope);
    narrow(&mut query, "principal", filter.principal.as_deref());
    narrow_to_text(&mut query, "tool", filter.tool.as_deref());
    narrow_to_text(&mut query, "call", filter.call.as_deref());
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
    let (newest_first, after) = (filter.newest_first, filter.after.as_ref());
    page_by_key(
        &mut query,
        "started",
        scope,
        newest_first,
        after,
        filter.limit,
    );
    query
}

/// The statement that inserts a row, or replaces the row of the same identity unless its outcome is final. The end of a call changes no indexed
/// column except the outcome.
const SAVE: &str = concat!(
    "INSERT INTO tool_store.audit AS old (",
    columns!(),
    ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28) \
     ON CONFLICT (workspace, key) DO UPDATE SET place = excluded.place, call = excluded.call, thread = excluded.thread, \
     principal = excluded.principal, runtime_user = excluded.runtime_user, agent = excluded.agent, session = excluded.session, \
     tool = excluded.tool, contract = excluded.contract, effect = excluded.effect, layer = excluded.layer, decision = excluded.decision, \
     policy = excluded.policy, approval = excluded.approval, approver = excluded.approver, outcome = excluded.outcome, \
     error = excluded.error, arguments = excluded.arguments, original_hash = excluded.original_hash, used_hash = excluded.used_hash, \
     output = excluded.output, output_bytes = excluded.output_bytes, attempt = excluded.attempt, started = excluded.started, \
     duration_us = excluded.duration_us, notes = excluded.notes \
     WHERE old.outcome IS NULL OR old.outcome = ANY($29)"
);

/// Inserts a row, or replaces the row of the same identity unless its outcome is final.
pub(super) async fn save(db: &mut Change<'_>, row: &AuditRow) -> Result<(), Fault> {
    let notes = serde_json::to_string(&row.notes)
        .map_err(|error| StoreError::Unavailable(Box::new(error)))?;
    db.query(SAVE)
        .bind(row.identity.workspace().as_str())
        .bind(row.identity.key().as_str())
        .bind(row.identity.to_column())
        .bind(storable(&row.call))
        .bind(&row.thread)
        .bind(&row.principal)
        .bind(&row.runtime_user)
        .bind(&row.agent)
        .bind(&row.session)
        .bind(storable(&row.tool))
        .bind(&row.contract)
        .bind(i64::from(row.effect))
        .bind(&row.layer)
        .bind(&row.decision)
        .bind(&row.policy)
        .bind(&row.approval)
        .bind(&row.approver)
        .bind(&row.outcome)
        .bind(row.error.as_deref().map(storable))
        .bind(storable(&row.arguments))
        .bind(&row.original_hash)
        .bind(&row.used_hash)
        .bind(row.output.as_deref().map(storable))
        .bind(row.output_bytes.map(u64::cast_signed))
        .bind(i64::from(row.attempt))
        .bind(row.started.as_millis())
        .bind(row.duration_us.map(u64::cast_signed))
        .bind(notes)
        .bind(AuditRow::OPEN)
        .execute(&mut **db)
        .await?;
    Ok(())
}

impl AuditSink for PostgresStore {
    fn journal(&self) -> Option<Journal> {
        Some(self.as_journal())
    }

    fn write(&self, mut rows: Vec<AuditRow>) -> StoreFuture<'_, ()> {
        step(async move {
            // Sort by key, so that two writers of the same rows cannot deadlock. The sort is stable, so rows of one identity keep their order.
            rows.sort_by_cached_key(|row| row.identity.key());
            change!(self, Vec::new(), db => {
                for row in &rows {
                    save(db, row).await?;
                }
                Ok(())
            })
        })
    }

    fn export<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a AuditFilter,
    ) -> StoreFuture<'a, Vec<AuditRow>> {
        step(async move {
            let rows = fetch!(self, fetch_all, listing(scope, filter).build());
            Ok(rows.iter().map(read).collect::<Result<_, _>>()?)
        })
    }

    fn erase<'a>(&'a self, workspace: &'a Workspace, principal: &'a str) -> StoreFuture<'a, u64> {
        step(async move {
            change!(self, Vec::new(), db => {
                let erased = db.query(ERASE).bind(principal).bind(workspace.as_str());
                Ok(erased.execute(&mut **db).await?.rows_affected())
            })
        })
    }

    fn retain<'a>(&'a self, scope: Scope<'a>, since: Timestamp) -> StoreFuture<'a, u64> {
        step(async move {
            let (mut removed, mut batches) = (0, Batches::new());
            loop {
                let began = env::monotonic();
                let batch = || retention(scope, since, batches.size());
                let rows = self.remove_rows(batch).await?;
                removed += rows;
                if !batches.next(rows, env::elapsed(began)) {
                    return Ok(removed);
                }
            }
        })
    }
}
