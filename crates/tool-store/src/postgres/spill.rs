//! Spilled outputs in PostgreSQL: one row each, with the text in chunks.

use crate::sql::contents::{Reader, Sealer};
use crate::sql::sealed::place;
use crate::sql::spill::{chunks, length, part};
use crate::store::{Scope, Spill, SpillPart, SpillStore, StoreFuture, Timestamp, Workspace};
use sqlx::{Postgres, QueryBuilder};

use super::change::{Change, change, fetch};
use super::sealed::check_sealer;
use super::{Fault, PostgresStore, narrow_to_scope, step, stored};

/// Returns the statement that removes the expired texts of a scope and their chunks.
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
pub(super) const READ: &str = "SELECT s.handle, s.total, c.start, c.text, c.sealed
     FROM tool_store.spill s LEFT JOIN tool_store.spill_chunk c ON c.handle = s.handle
          AND c.start >= (SELECT coalesce(max(start), 0) FROM tool_store.spill_chunk WHERE handle = $1 AND start <= $4)
          AND c.start < $5
     WHERE s.handle = $1 AND s.workspace = $2 AND s.principal = $3
           AND s.lapses > coalesce($6::bigint, (extract(epoch FROM clock_timestamp()) * 1000)::bigint)
     ORDER BY c.start";

async fn put(
    db: &mut Change<'_>,
    spill: &Spill,
    lapses: i64,
    sealer: &Sealer,
) -> Result<(), Fault> {
    check_sealer(db, sealer).await?;
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
    for (start, text) in chunks(&spill.text) {
        let place = || place::chunk(&spill.workspace, &spill.principal, &spill.handle, start);
        let chunk = sealer.seal(text, place)?;
        db.query(
            "INSERT INTO tool_store.spill_chunk (handle, start, text, sealed, seal_key) VALUES ($1, $2, $3, $4, $5)",
        )
        .bind(&spill.handle)
        .bind(stored(start))
        .bind(chunk.text.as_bytes())
        .bind(chunk.sealed())
        .bind(chunk.key())
        .execute(&mut **db)
        .await?;
    }
    Ok(())
}

impl SpillStore for PostgresStore {
    fn put(&self, spill: Spill) -> StoreFuture<'_, ()> {
        step(async move {
            let sealer = self.contents().sealer().await?;
            change!(self, Vec::new(), db => {
                let lapses = db.clock.lapses(spill.expires, spill.at);
                put(db, &spill, lapses, &sealer).await
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
            let read = |reader: &Reader| part(&rows, (workspace, principal), (from, most), reader);
            Ok(self.contents().read(read).await?)
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
