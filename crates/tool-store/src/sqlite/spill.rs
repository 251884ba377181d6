//! Spilled outputs in SQLite: one row each, with the text in chunks.

use crate::sql::columns::Columns;
use crate::store::{
    Scope, Spill, SpillPart, SpillStore, StoreError, StoreFuture, Timestamp, Workspace,
};
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use sqlx::{QueryBuilder, Sqlite};

use super::{Fault, SqliteStore, narrow_to_scope, step};

/// The largest size of a chunk in bytes. A chunk ends earlier if its last character would exceed it.
const CHUNK: usize = 64 * 1024;

/// Removes the expired texts of a scope and their chunks.
pub(super) fn expiry(scope: Scope<'_>, now: Timestamp) -> QueryBuilder<Sqlite> {
    let mut query = QueryBuilder::new("DELETE FROM spill WHERE expires <= ");
    query.push_bind(now.as_millis());
    narrow_to_scope(&mut query, scope);
    query
}

/// A byte position or length as a SQLite integer. No text is longer than the largest integer.
fn place(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

fn length(text: &str) -> u64 {
    u64::try_from(text.len()).unwrap_or(u64::MAX)
}

/// Cuts the requested part out of its chunks. The first chunk contains the byte `from`, or is the last chunk.
fn part(rows: &[SqliteRow], from: u64, most: u64) -> Result<Option<SpillPart>, StoreError> {
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
        text.push_str(columns.maybe::<&str>("text")?.unwrap_or_default());
    }
    let part = SpillPart::of(&text, from.saturating_sub(base), most);
    Ok(Some(SpillPart {
        from: base + part.from,
        total,
        ..part
    }))
}

async fn put(db: &mut SqliteConnection, spill: Spill) -> Result<(), Fault> {
    let done = sqlx::query(
            "INSERT INTO spill (handle, workspace, principal, total, at, expires) VALUES (?, ?, ?, ?, ?, ?)
             ON CONFLICT (handle) DO NOTHING",
        )
        .bind(&spill.handle)
        .bind(spill.workspace.as_str())
        .bind(&spill.principal)
        .bind(place(length(&spill.text)))
        .bind(spill.at.as_millis())
        .bind(spill.expires.as_millis())
        .execute(&mut *db)
        .await?;
    if done.rows_affected() == 0 {
        return Err(spill.exists().into());
    }
    let mut start = 0;
    while start < spill.text.len() {
        let end = spill.text.floor_char_boundary(start + CHUNK);
        sqlx::query("INSERT INTO spill_chunk (handle, start, text) VALUES (?, ?, ?)")
            .bind(&spill.handle)
            .bind(place(length(&spill.text[..start])))
            .bind(&spill.text[start..end])
            .execute(&mut *db)
            .await?;
        start = end;
    }
    Ok(())
}

impl SpillStore for SqliteStore {
    fn put(&self, spill: Spill) -> StoreFuture<'_, ()> {
        step(self.change(|db| Box::pin(put(db, spill))))
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
            let rows = sqlx::query(
                "SELECT s.handle, s.total, c.start, c.text
                 FROM spill s LEFT JOIN spill_chunk c ON c.handle = s.handle
                      AND c.start >= (SELECT coalesce(max(start), 0) FROM spill_chunk WHERE handle = ?1 AND start <= ?4)
                      AND c.start < ?5
                 WHERE s.handle = ?1 AND s.workspace = ?2 AND s.principal = ?3 AND s.expires > ?6
                 ORDER BY c.start",
            )
            .bind(handle)
            .bind(workspace.as_str())
            .bind(principal)
            .bind(place(from))
            .bind(place(from).saturating_add(place(most.max(1))))
            .bind(now.as_millis())
            .fetch_all(&self.readers)
            .await?;
            Ok(part(&rows, from, most)?)
        })
    }

    fn expire<'a>(&'a self, scope: Scope<'a>, now: Timestamp) -> StoreFuture<'a, u64> {
        step(async move { self.update_built(expiry(scope, now)).await })
    }
}
