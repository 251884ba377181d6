//! Seal keys, and the sealed values of all tables, in PostgreSQL.

use std::collections::{BTreeMap, BTreeSet};

use crate::sql::records::{key_uses, seal_key as read_key, sealed_row};
use crate::store::{
    KeyId, KeyUse, Reseal, SealKeyRow, SealStore, SealedColumn, SealedPlace, SealedRow,
    StoreFuture, Timestamp,
};
use sqlx::{Postgres, QueryBuilder};

use super::change::{Change, change, fetch};
use super::{Fault, PostgresStore, step};

macro_rules! find {
    () => {
        "SELECT id, check_value, at, retired FROM tool_store.seal_key WHERE id = $1"
    };
}

/// The query for a key.
const FIND: &str = find!();

/// The query for a key that the transaction uses. Its lock delays the retirement of the key until the transaction ends.
const USE: &str = concat!(find!(), " FOR SHARE");

/// The query for a key that the transaction retires. It waits for the transactions that use the key.
const LOCK: &str = concat!(find!(), " FOR UPDATE");

/// The query for all keys.
const KEYS: &str = "SELECT id, check_value, at, retired FROM tool_store.seal_key ORDER BY id";

/// A sealed column: its table, and the expression of the owner in [`SealedPlace`].
fn source(column: SealedColumn) -> (&'static str, &'static str) {
    match column {
        SealedColumn::Secret => ("secret", "''"),
        SealedColumn::Variable => ("variable", "t.level || ':' || t.owner"),
    }
}

async fn key_row(
    db: &mut Change<'_>,
    sql: &'static str,
    id: &KeyId,
) -> Result<Option<SealKeyRow>, Fault> {
    let row = db.query(sql).bind(id.as_str());
    let row = row.fetch_optional(&mut **db).await?;
    Ok(row.as_ref().map(read_key).transpose()?)
}

/// Refuses to write a value with a key that is unknown or retired.
pub(super) async fn check_use(db: &mut Change<'_>, key: &KeyId) -> Result<(), Fault> {
    let row = key_row(db, USE, key).await?;
    Ok(SealKeyRow::check_use(key, row.as_ref())?)
}

async fn register(db: &mut Change<'_>, row: &SealKeyRow) -> Result<SealKeyRow, Fault> {
    db.query("INSERT INTO tool_store.seal_key (id, check_value, at) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING")
        .bind(row.id.as_str())
        .bind(row.check.as_bytes())
        .bind(row.at.as_millis())
        .execute(&mut **db)
        .await?;
    let stored = key_row(db, FIND, &row.id).await?;
    Ok(stored.unwrap_or_else(|| row.clone()))
}

/// The query for the number of values of each column and key.
fn counts() -> QueryBuilder<Postgres> {
    let mut query = QueryBuilder::new("");
    for (at, column) in SealedColumn::ALL.iter().enumerate() {
        let (table, _) = source(*column);
        if at > 0 {
            query.push(" UNION ALL ");
        }
        query.push(format_args!(
            "SELECT '{column}' AS sealed_column, seal_key, count(*) AS amount FROM tool_store.{table} WHERE seal_key IS NOT NULL GROUP BY seal_key"
        ));
    }
    query
}

/// The query for the values of a column that a key has sealed, in rows after a place.
pub(super) fn listing(
    column: SealedColumn,
    key: &KeyId,
    after: Option<&SealedPlace>,
    most: u32,
) -> QueryBuilder<Postgres> {
    let (table, owner) = source(column);
    let mut query = QueryBuilder::new("SELECT t.workspace, t.id, ");
    query.push(format_args!(
        "{owner} AS place_owner, t.sealed FROM tool_store.{table} t WHERE t.seal_key = "
    ));
    query.push_bind(key.to_string());
    if let Some(after) = after {
        query.push(" AND (t.workspace, t.id) > (");
        query.push_bind(after.workspace.to_string()).push(", ");
        query.push_bind(after.id.clone()).push(")");
    }
    query.push(" ORDER BY t.workspace, t.id LIMIT ");
    query.push_bind(i64::from(most));
    query
}

/// Values of one column to seal again, as arrays with one element for each value.
#[derive(Default)]
struct Batch {
    workspaces: Vec<String>,
    ids: Vec<String>,
    owners: Vec<String>,
    old: Vec<Vec<u8>>,
    new: Vec<Vec<u8>>,
    keys: Vec<String>,
}

impl Batch {
    fn push(&mut self, change: &Reseal) {
        let place = &change.old.place;
        self.workspaces.push(place.workspace.to_string());
        self.ids.push(place.id.clone());
        self.owners.push(place.owner.clone());
        self.old.push(change.old.bytes.to_vec());
        self.new.push(change.new.as_bytes().to_vec());
        self.keys.push(change.new.key().to_string());
    }

    /// Locks the rows in a fixed order, so that two rotations of the same values cannot deadlock.
    fn lock(&self, column: SealedColumn) -> QueryBuilder<Postgres> {
        let (table, _) = source(column);
        let mut query = QueryBuilder::new("SELECT t.id FROM tool_store.");
        query.push(format_args!("{table} t JOIN unnest("));
        query.push_bind(self.workspaces.clone()).push("::text[], ");
        query.push_bind(self.ids.clone());
        query.push(
            "::text[]) AS c (workspace, id) ON t.workspace = c.workspace AND t.id = c.id \
             ORDER BY t.workspace, t.id FOR UPDATE OF t",
        );
        query
    }

    /// Replaces each value that has not changed since it was read.
    fn swap(&self, column: SealedColumn) -> QueryBuilder<Postgres> {
        let (table, owner) = source(column);
        let mut query = QueryBuilder::new("UPDATE tool_store.");
        query.push(format_args!(
            "{table} t SET sealed = c.new, seal_key = c.key FROM unnest("
        ));
        query.push_bind(self.workspaces.clone()).push("::text[], ");
        query.push_bind(self.ids.clone()).push("::text[], ");
        query.push_bind(self.owners.clone()).push("::text[], ");
        query.push_bind(self.old.clone()).push("::bytea[], ");
        query.push_bind(self.new.clone()).push("::bytea[], ");
        query.push_bind(self.keys.clone());
        query.push(format_args!(
            "::text[]) AS c (workspace, id, owner, old, new, key) \
             WHERE t.workspace = c.workspace AND t.id = c.id AND {owner} = c.owner AND t.sealed = c.old"
        ));
        query
    }
}

async fn reseal(db: &mut Change<'_>, changes: &[Reseal]) -> Result<u64, Fault> {
    let keys: BTreeSet<&KeyId> = changes.iter().map(|change| change.new.key()).collect();
    for key in keys {
        check_use(db, key).await?;
    }
    let mut batches = BTreeMap::<SealedColumn, Batch>::new();
    for change in changes {
        let batch = batches.entry(change.old.place.column).or_default();
        batch.push(change);
    }
    let mut done = 0;
    for (column, batch) in batches {
        let is_named = db.is_named();
        let mut lock = batch.lock(column);
        lock.build().persistent(is_named).execute(&mut **db).await?;
        let mut swap = batch.swap(column);
        let swapped = swap.build().persistent(is_named).execute(&mut **db);
        done += swapped.await?.rows_affected();
    }
    Ok(done)
}

pub(super) async fn retire(db: &mut Change<'_>, key: &KeyId, now: Timestamp) -> Result<(), Fault> {
    let row = key_row(db, LOCK, key).await?;
    let mut counts = counts();
    let uses = counts.build().persistent(db.is_named());
    let uses = key_uses(&uses.fetch_all(&mut **db).await?)?;
    SealKeyRow::check_retirement(key, row.as_ref(), &uses)?;
    db.query("UPDATE tool_store.seal_key SET retired = $1 WHERE id = $2 AND retired IS NULL")
        .bind(now.as_millis())
        .bind(key.as_str())
        .execute(&mut **db)
        .await?;
    Ok(())
}

impl SealStore for PostgresStore {
    fn register_key(&self, row: SealKeyRow) -> StoreFuture<'_, SealKeyRow> {
        step(async move {
            // If an earlier process has stored the key, no write is needed.
            let stored = fetch!(
                self,
                fetch_optional,
                sqlx::query(FIND).bind(row.id.as_str())
            );
            if let Some(stored) = stored {
                return Ok(read_key(&stored)?);
            }
            change!(self, Vec::new(), db => register(db, &row).await)
        })
    }

    fn keys(&self) -> StoreFuture<'_, Vec<SealKeyRow>> {
        step(async move {
            let rows = fetch!(self, fetch_all, sqlx::query(KEYS));
            Ok(rows.iter().map(read_key).collect::<Result<_, _>>()?)
        })
    }

    fn key_uses(&self) -> StoreFuture<'_, Vec<KeyUse>> {
        step(async move { Ok(key_uses(&fetch!(self, fetch_all, counts().build()))?) })
    }

    fn sealed<'a>(
        &'a self,
        column: SealedColumn,
        key: &'a KeyId,
        after: Option<&'a SealedPlace>,
        most: u32,
    ) -> StoreFuture<'a, Vec<SealedRow>> {
        step(async move {
            let (table, _) = source(column);
            let rows = fetch!(self, fetch_all, listing(column, key, after, most).build());
            let read = |row| sealed_row(row, column, table);
            Ok(rows.iter().map(read).collect::<Result<_, _>>()?)
        })
    }

    fn reseal(&self, changes: Vec<Reseal>) -> StoreFuture<'_, u64> {
        step(async move {
            if changes.is_empty() {
                return Ok(0);
            }
            change!(self, Vec::new(), db => reseal(db, &changes).await)
        })
    }

    fn retire_key<'a>(&'a self, key: &'a KeyId, now: Timestamp) -> StoreFuture<'a, ()> {
        step(async move { change!(self, Vec::new(), db => retire(db, key, now).await) })
    }
}
