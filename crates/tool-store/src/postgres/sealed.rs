//! Seal keys, and the sealed values of all tables, in PostgreSQL.

use std::collections::{BTreeMap, BTreeSet};

#[cfg(feature = "seal")]
use crate::seal::{Vault, VaultError};
#[cfg(feature = "seal")]
use crate::sql::contents::Contents;
use crate::sql::contents::Sealer;
use crate::sql::records::{key_uses, seal_key as read_key, sealed_row};
use crate::sql::sealed::{Position, counts, listing, source};
use crate::sql::statement::SqlReader as _;
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

/// Refuses to write contents with a key that is unknown or retired.
pub(super) async fn check_sealer(db: &mut Change<'_>, sealer: &Sealer) -> Result<(), Fault> {
    match sealer.key() {
        Some(key) => check_use(db, key).await,
        None => Ok(()),
    }
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

/// Values of one column to seal again, as arrays with one element for each value.
#[derive(Default)]
struct Batch {
    workspaces: Vec<String>,
    owners: Vec<String>,
    names: Vec<String>,
    numbers: Vec<Option<i64>>,
    old: Vec<Vec<u8>>,
    new: Vec<Vec<u8>>,
    keys: Vec<String>,
}

impl Batch {
    fn push(&mut self, change: &Reseal) {
        let place = Position::of(&change.old.place);
        self.workspaces.push(place.workspace);
        self.owners.push(place.owner);
        self.names.push(place.name);
        self.numbers.push(place.number);
        self.old.push(change.old.bytes.to_vec());
        self.new.push(change.new.as_bytes().to_vec());
        self.keys.push(change.new.key().to_string());
    }

    /// Adds the values as rows `c`.
    fn push_rows(&self, query: &mut QueryBuilder<Postgres>) {
        query.push("unnest(").push_bind(self.workspaces.clone());
        query.push("::text[], ").push_bind(self.owners.clone());
        query.push("::text[], ").push_bind(self.names.clone());
        query.push("::text[], ").push_bind(self.numbers.clone());
        query.push("::bigint[], ").push_bind(self.old.clone());
        query.push("::bytea[], ").push_bind(self.new.clone());
        query.push("::bytea[], ").push_bind(self.keys.clone());
        query.push("::text[]) AS c (workspace, owner, name, number, old, new, key)");
    }

    /// Returns the statement that locks the rows in a fixed order, so that two rotations of the same values cannot deadlock.
    fn lock(&self, column: SealedColumn) -> QueryBuilder<Postgres> {
        let source = source(column);
        let mut query = QueryBuilder::new("SELECT 1 FROM tool_store.");
        query.push(format_args!("{} t JOIN ", source.table));
        self.push_rows(&mut query);
        query.push(format_args!(
            " ON {} ORDER BY {} FOR UPDATE OF t",
            source.at::<Postgres>(),
            source.order
        ));
        query
    }

    /// Returns the statement that replaces each value that has not changed since it was read.
    fn swap(&self, column: SealedColumn) -> QueryBuilder<Postgres> {
        let source = source(column);
        let (sealed, key) = (source.sealed, source.key);
        let mut query = QueryBuilder::new("UPDATE tool_store.");
        query.push(format_args!(
            "{} t SET {sealed} = c.new, {key} = c.key FROM ",
            source.table
        ));
        self.push_rows(&mut query);
        query.push(format_args!(
            " WHERE {} AND t.{sealed} = c.old",
            source.at::<Postgres>()
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
    let uses = key_uses(&db.read(counts).await?)?;
    SealKeyRow::check_retirement(key, row.as_ref(), &uses)?;
    db.query("UPDATE tool_store.seal_key SET retired = $1 WHERE id = $2 AND retired IS NULL")
        .bind(now.as_millis())
        .bind(key.as_str())
        .execute(&mut **db)
        .await?;
    Ok(())
}

#[cfg(feature = "seal")]
impl PostgresStore {
    /// Returns a handle of this store that seals contents with the keys of a vault: the arguments of approvals (including edited arguments), the
    /// contents of messages, the events of threads, plans and the states of their runs, spilled outputs, and the stored responses of idempotency
    /// keys. Documents, rooms, the prompts of scheduled tasks and some other contents stay in clear text; [`seal`](crate::seal#contents) lists them.
    ///
    /// Pass clones of this handle to every part of the host.
    ///
    /// ```no_run
    /// use tool_store::PostgresStore;
    /// use tool_store::seal::{SealKeys, Vault};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let store = PostgresStore::open("postgres://tools@db.example/tools").await?;
    /// let vault = Vault::open(store.clone(), SealKeys::from_env(SealKeys::VARIABLE)?).await?;
    /// let store = store.sealing(&vault)?;
    /// # drop(store);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Fails with [`VaultError::NoKeys`] if the vault was opened without keys.
    pub fn sealing(mut self, vault: &Vault) -> Result<Self, VaultError> {
        vault.require_keys()?;
        self.1 = Contents::sealed_by(vault.clone());
        Ok(self)
    }
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
        step(async move {
            Ok(key_uses(&fetch!(
                self,
                fetch_all,
                counts::<Postgres>().query.build()
            ))?)
        })
    }

    fn sealed<'a>(
        &'a self,
        column: SealedColumn,
        key: &'a KeyId,
        after: Option<&'a SealedPlace>,
        most: u32,
    ) -> StoreFuture<'a, Vec<SealedRow>> {
        step(async move {
            let list = || listing::<Postgres>(column, key, after, most).query;
            let rows = fetch!(self, fetch_all, list().build());
            let read = |row| sealed_row(row, column);
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
