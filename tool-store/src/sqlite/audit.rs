//! Audit rows in SQLite.

use sqlx::sqlite::{SqliteConnection, SqliteRow};
use sqlx::{QueryBuilder, Sqlite};
use tool_core::store::{
    AuditFilter, AuditNote, AuditRow, AuditSink, StoreError, StoreFuture, Timestamp,
};

use super::columns::Columns;
use super::{Fault, SqliteStore, narrow, step};

macro_rules! columns {
    () => {
        "id, call, turn, thread, tenant, principal, runtime_user, agent, session, tool, contract, effect, layer, decision, policy, \
         approval, approver, outcome, error, arguments, original_hash, used_hash, output, output_bytes, attempt, started, \
         duration_us, notes"
    };
}

macro_rules! values {
    () => {
        "?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?"
    };
}

/// Removes one user's rows.
pub(super) const ERASE: &str = "DELETE FROM audit WHERE principal = ? AND tenant = ?";

/// Removes old rows.
pub(super) const RETAIN: &str = "DELETE FROM audit WHERE started < ?";

/// The query for the rows that a filter means.
pub(super) fn listing(filter: &AuditFilter) -> QueryBuilder<Sqlite> {
    let mut query = QueryBuilder::new(concat!("SELECT ", columns!(), " FROM audit WHERE TRUE"));
    narrow(&mut query, "tenant", filter.tenant.as_deref());
    narrow(&mut query, "principal", filter.principal.as_deref());
    narrow(&mut query, "tool", filter.tool.as_deref());
    narrow(&mut query, "call", filter.call.as_deref());
    if let Some(since) = filter.since {
        query.push(" AND started >= ").push_bind(since.as_millis());
    }
    if let Some(until) = filter.until {
        query.push(" AND started < ").push_bind(until.as_millis());
    }
    query.push(" ORDER BY started, id");
    if let Some(limit) = filter.limit {
        query.push(" LIMIT ").push_bind(limit);
    }
    query
}

fn read(row: &SqliteRow) -> Result<AuditRow, StoreError> {
    let columns = Columns::new(row, "audit", "id");
    let notes: &str = columns.get("notes")?;
    let notes: Vec<AuditNote> =
        serde_json::from_str(notes).map_err(|error| columns.corrupt("notes", error))?;
    Ok(AuditRow {
        id: columns.get("id")?,
        call: columns.get("call")?,
        turn: columns.maybe("turn")?,
        thread: columns.maybe("thread")?,
        tenant: columns.maybe("tenant")?,
        principal: columns.maybe("principal")?,
        runtime_user: columns.maybe("runtime_user")?,
        agent: columns.maybe("agent")?,
        session: columns.maybe("session")?,
        tool: columns.get("tool")?,
        contract: columns.maybe("contract")?,
        effect: columns.number("effect")?,
        layer: columns.maybe("layer")?,
        decision: columns.maybe("decision")?,
        policy: columns.maybe("policy")?,
        approval: columns.maybe("approval")?,
        approver: columns.maybe("approver")?,
        outcome: columns.maybe("outcome")?,
        error: columns.maybe("error")?,
        arguments: columns.get("arguments")?,
        original_hash: columns.get("original_hash")?,
        used_hash: columns.maybe("used_hash")?,
        output: columns.maybe("output")?,
        output_bytes: columns
            .maybe::<i64>("output_bytes")?
            .map(i64::cast_unsigned),
        attempt: columns.number("attempt")?,
        started: columns.time("started")?,
        duration_us: columns.maybe::<i64>("duration_us")?.map(i64::cast_unsigned),
        notes,
    })
}

/// Adds a row, or ends the one of its id. Columns that have an index are not set, so that no index is written a second time:
/// `REPLACE` removes the row from all of them and adds it again.
const END: &str = concat!(
    "INSERT INTO audit (",
    columns!(),
    ") VALUES (",
    values!(),
    ") ON CONFLICT (id) DO UPDATE SET ",
    "turn = excluded.turn, thread = excluded.thread, runtime_user = excluded.runtime_user, agent = excluded.agent,  \
         session = excluded.session, contract = excluded.contract, effect = excluded.effect, layer = excluded.layer,  \
         decision = excluded.decision, policy = excluded.policy, approval = excluded.approval,  \
         approver = excluded.approver, outcome = excluded.outcome, error = excluded.error,  \
         arguments = excluded.arguments, original_hash = excluded.original_hash, used_hash = excluded.used_hash,  \
         output = excluded.output, output_bytes = excluded.output_bytes, attempt = excluded.attempt,  \
         duration_us = excluded.duration_us, notes = excluded.notes",
    " WHERE (call, tenant, principal, tool, started) IS (excluded.call, excluded.tenant, excluded.principal, excluded.tool, excluded.started)"
);

/// Puts a row in place of one of the same id that has another caller, tool or time.
const REPLACE: &str = concat!(
    "REPLACE INTO audit (",
    columns!(),
    ") VALUES (",
    values!(),
    ")"
);

/// Writes a row in place of the one of its id.
pub(super) async fn save(db: &mut SqliteConnection, row: &AuditRow) -> Result<(), Fault> {
    let notes = serde_json::to_string(&row.notes)
        .map_err(|error| StoreError::Unavailable(Box::new(error)))?;
    for statement in [END, REPLACE] {
        let done = sqlx::query(statement)
            .bind(&row.id)
            .bind(&row.call)
            .bind(&row.turn)
            .bind(&row.thread)
            .bind(&row.tenant)
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
            .execute(&mut *db)
            .await?;
        if done.rows_affected() > 0 {
            break;
        }
    }
    Ok(())
}

impl AuditSink for SqliteStore {
    fn write(&self, rows: Vec<AuditRow>) -> StoreFuture<'_, ()> {
        step(async move {
            let mut change = self.change().await?;
            for row in &rows {
                save(&mut change, row).await?;
            }
            Ok(change.commit().await?)
        })
    }

    fn export<'a>(&'a self, filter: &'a AuditFilter) -> StoreFuture<'a, Vec<AuditRow>> {
        step(async move {
            let rows = listing(filter).build().fetch_all(&self.readers).await?;
            Ok(rows.iter().map(read).collect::<Result<_, _>>()?)
        })
    }

    fn erase<'a>(&'a self, tenant: &'a str, principal: &'a str) -> StoreFuture<'a, u64> {
        step(async move {
            let erased = sqlx::query(ERASE);
            let erased = self.update(erased.bind(principal).bind(tenant)).await?;
            self.forget().await?;
            Ok(erased)
        })
    }

    fn retain(&self, since: Timestamp) -> StoreFuture<'_, u64> {
        step(async move {
            let removed = sqlx::query(RETAIN);
            self.update(removed.bind(since.as_millis())).await
        })
    }
}
