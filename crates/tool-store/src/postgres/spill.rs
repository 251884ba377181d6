//! Spilled outputs in PostgreSQL: one row each, with the text in chunks.

use crate::sql::columns::Columns;
use crate::store::{
    Scope, Spill, SpillPart, SpillStore, StoreError, StoreFuture, Timestamp, Workspace,
};
use sqlx::postgres::PgRow;
use sqlx::{Postgres, QueryBuilder};

use super::change::{Change, change, fetch};
use super::{Fault, PostgresStore, narrow_to_scope, step, stored};

/// The largest size of a chunk in bytes. A chunk ends earlier if its last character would exceed it.
const CHUNK: usize = 64 * 1024;

/// Removes the expired texts of a scope and their chunks.
pub(super) fn expiry(scope: Scope<'_>, now: i64) -> QueryBuilder<Postgres> {
    let mut query = QueryBuilder::new(
        "DELETE FROM tool_store.spill WHERE ctid = ANY(ARRAY(SELECT ctid FROM tool_store.spill WHERE lapses <= ",
    );
    query.push_bind(now);
    narrow_to_scope(&mut query, scope);
    query.push(" FOR UPDATE SKIP LOCKED))");
    query
}

/// The query for a part of a text. The last parameter is the parameter of [`NOW`](super::NOW).
pub(super) const READ: &str = "SELECT s.handle, s.total, c.start, c.text
     FROM tool_store.spill s LEFT JOIN tool_store.spill_chunk c ON c.handle = s.handle
          AND c.start >= (SELECT coalesce(max(start), 0) FROM tool_store.spill_chunk WHERE handle = $1 AND start <= $4)
          AND c.start < $5
     WHERE s.handle = $1 AND s.workspace = $2 AND s.principal = $3
           AND s.lapses > coalesce($6::bigint, (extract(epoch FROM clock_timestamp()) * 1000)::bigint)
     ORDER BY c.start";

fn length(text: &str) -> u64 {
    u64::try_from(text.len()).unwrap_or(u64::MAX)
}

/// Cuts the requested part out of its chunks. The first chunk contains the byte `from`, or is the last chunk.
fn part(rows: &[PgRow], from: u64, most: u64) -> Result<Option<SpillPart>, StoreError> {
    let Some(first) = rows.first() else {
        return Ok(None);
    };
    let first = Columns::new(first, "spill", "handle");
    let total: u64 = first.number("total")?;
    // An empty text has no chunk.
    let base = first.maybe::<i64>("start")?.unwrap_or(0).cast_unsigned();
    let mut text = String::new();
    for row in rows {
        let columns = Columns::new(row, "spill", "handle");
        let bytes = columns.maybe::<&[u8]>("text")?.unwrap_or_default();
        text.push_str(std::str::from_utf8(bytes).map_err(|error| columns.corrupt("text", error))?);
    }
    let part = SpillPart::of(&text, from.saturating_sub(base), most);
    Ok(Some(SpillPart {
        from: base + part.from,
        total,
        ..part
    }))
}

async fn put(db: &mut Change<'_>, spill: &Spill, lapses: i64) -> Result<(), Fault> {
    let done = db.query(
        "INSERT INTO tool_store.spill (handle, workspace, principal, total, at, expires, lapses) VALUES ($1, $2, $3, $4, $5, $6, $7)
         ON CONFLICT (handle) DO NOTHING",
    )
    .bind(&spill.handle)
    .bind(spill.workspace.as_str())
    .bind(&spill.principal)
    .bind(stored(length(&spill.text)))
    .bind(spill.at.as_millis())
    .bind(spill.expires.as_millis())
    .bind(lapses)
    .execute(&mut **db)
    .await?;
    if done.rows_affected() == 0 {
        return Err(spill.exists().into());
    }
    let mut start = 0;
    while start < spill.text.len() {
        let end = spill.text.floor_char_boundary(start + CHUNK);
        db.query("INSERT INTO tool_store.spill_chunk (handle, start, text) VALUES ($1, $2, $3)")
            .bind(&spill.handle)
            .bind(stored(length(&spill.text[..start])))
            .bind(&spill.text.as_bytes()[start..end])
            .execute(&mut **db)
            .await?;
        start = end;
    }
    Ok(())
}

impl SpillStore for PostgresStore {
    fn put(&self, spill: Spill) -> StoreFuture<'_, ()> {
        step(async move {
            change!(self, Vec::new(), db => {
                let lapses = db.clock.lapses(spill.expires, spill.at);
                put(db, &spill, lapses).await
            })
        })
    }

    fn read<'a>(
        &'a self,
        workspace: &'a Workspace,
        principal: &'a str,
        handle: &'a str,
        from: u64,
        most: u64,
        now: Timestamp,
    ) -> StoreFuture<'a, Option<SpillPart>> {
        step(async move {
            let given = self.given_now(now);
            let rows = fetch!(
                self,
                fetch_all,
                sqlx::query(READ)
                    .bind(handle)
                    .bind(workspace.as_str())
                    .bind(principal)
                    .bind(stored(from))
                    .bind(stored(from).saturating_add(stored(most.max(1))))
                    .bind(given)
            );
            Ok(part(&rows, from, most)?)
        })
    }

    fn expire<'a>(&'a self, scope: Scope<'a>, now: Timestamp) -> StoreFuture<'a, u64> {
        step(async move {
            change!(self, Vec::new(), db => {
                let mut expiry = expiry(scope, db.clock.now(now));
                Ok(expiry.build().persistent(db.is_named()).execute(&mut **db).await?.rows_affected())
            })
        })
    }
}
