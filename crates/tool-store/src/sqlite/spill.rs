//! Spilled outputs in SQLite: one row each, with the text in chunks.

use crate::sql::contents::{Reader, Sealer};
use crate::sql::sealed::place;
use crate::sql::spill::{chunks, length, part};
use crate::store::{Scope, Spill, SpillPart, SpillStore, StoreFuture, Timestamp, Workspace};
use sqlx::sqlite::SqliteConnection;
use sqlx::{QueryBuilder, Sqlite};

use super::sealed::check_sealer;
use super::{Fault, SqliteStore, narrow_to_scope, step};

/// Returns the statement that removes the expired texts of a scope and their chunks.
pub(super) fn expiry(scope: Scope<'_>, now: Timestamp) -> QueryBuilder<Sqlite> {
    let mut query = QueryBuilder::new("DELETE FROM spill WHERE expires <= ");
    query.push_bind(now.as_millis());
    narrow_to_scope(&mut query, scope);
    query
}

/// Returns a byte position or length as a SQLite integer. No text is longer than the largest integer.
fn stored(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

async fn put(db: &mut SqliteConnection, spill: Spill, sealer: &Sealer) -> Result<(), Fault> {
    check_sealer(db, sealer).await?;
    let done = sqlx::query(
            "INSERT INTO spill (handle, workspace, principal, total, at, expires) VALUES (?, ?, ?, ?, ?, ?)
             ON CONFLICT (handle) DO NOTHING",
        )
        .bind(&spill.handle)
        .bind(spill.workspace.as_str())
        .bind(&spill.principal)
        .bind(stored(length(&spill.text)))
        .bind(spill.at.as_millis())
        .bind(spill.expires.as_millis())
        .execute(&mut *db)
        .await?;
    if done.rows_affected() == 0 {
        return Err(spill.exists().into());
    }
    for (start, text) in chunks(&spill.text) {
        let place = || place::chunk(&spill.workspace, &spill.principal, &spill.handle, start);
        let chunk = sealer.seal(text, place)?;
        sqlx::query(
            "INSERT INTO spill_chunk (handle, start, text, sealed, seal_key) VALUES (?, ?, ?, ?, ?)",
        )
        .bind(&spill.handle)
        .bind(stored(start))
        .bind(chunk.text)
        .bind(chunk.sealed())
        .bind(chunk.key())
        .execute(&mut *db)
        .await?;
    }
    Ok(())
}

impl SpillStore for SqliteStore {
    fn put(&self, spill: Spill) -> StoreFuture<'_, ()> {
        step(async move {
            let sealer = self.contents.sealer().await?;
            self.change(|db| Box::pin(async move { put(db, spill, &sealer).await }))
                .await
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
            let rows = sqlx::query(
                "SELECT s.handle, s.total, c.start, c.text, c.sealed
                 FROM spill s LEFT JOIN spill_chunk c ON c.handle = s.handle
                      AND c.start >= (SELECT coalesce(max(start), 0) FROM spill_chunk WHERE handle = ?1 AND start <= ?4)
                      AND c.start < ?5
                 WHERE s.handle = ?1 AND s.workspace = ?2 AND s.principal = ?3 AND s.expires > ?6
                 ORDER BY c.start",
            )
            .bind(handle)
            .bind(workspace.as_str())
            .bind(principal)
            .bind(stored(from))
            .bind(stored(from).saturating_add(stored(most.max(1))))
            .bind(now.as_millis())
            .fetch_all(&self.readers)
            .await?;
            let read = |reader: &Reader| part(&rows, (workspace, principal), (from, most), reader);
            Ok(self.contents.read(read).await?)
        })
    }

    fn expire<'a>(&'a self, scope: Scope<'a>, now: Timestamp) -> StoreFuture<'a, u64> {
        step(async move { self.update_built(expiry(scope, now)).await })
    }
}
