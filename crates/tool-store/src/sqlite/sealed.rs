//! Seal keys, and the sealed values of all tables, in SQLite.

use std::collections::BTreeSet;

#[cfg(feature = "seal")]
use crate::seal::{Vault, VaultError};
#[cfg(feature = "seal")]
use crate::sql::contents::Contents;
use crate::sql::contents::Sealer;
use crate::sql::records::{key_uses, seal_key as read_key, sealed_row};
use crate::sql::sealed::{Position, counts, listing, source};
use crate::store::{
    KeyId, KeyUse, Reseal, SealKeyRow, SealStore, SealedColumn, SealedPlace, SealedRow,
    StoreFuture, Timestamp,
};
use sqlx::sqlite::SqliteConnection;
use sqlx::{Executor, QueryBuilder, Sqlite};

use super::{Fault, SqliteStore, step};

async fn key_row(
    db: impl Executor<'_, Database = Sqlite>,
    id: &KeyId,
) -> Result<Option<SealKeyRow>, Fault> {
    let row = sqlx::query("SELECT id, check_value, at, retired FROM seal_key WHERE id = ?")
        .bind(id.as_str())
        .fetch_optional(db)
        .await?;
    Ok(row.as_ref().map(read_key).transpose()?)
}

/// Refuses to write a value with a key that is unknown or retired.
pub(super) async fn check_use(db: &mut SqliteConnection, key: &KeyId) -> Result<(), Fault> {
    let row = key_row(db, key).await?;
    Ok(SealKeyRow::check_use(key, row.as_ref())?)
}

/// Refuses to write contents with a key that is unknown or retired.
pub(super) async fn check_sealer(db: &mut SqliteConnection, sealer: &Sealer) -> Result<(), Fault> {
    match sealer.key() {
        Some(key) => check_use(db, key).await,
        None => Ok(()),
    }
}

async fn register(db: &mut SqliteConnection, row: SealKeyRow) -> Result<SealKeyRow, Fault> {
    sqlx::query(
        "INSERT INTO seal_key (id, check_value, at) VALUES (?, ?, ?) ON CONFLICT (id) DO NOTHING",
    )
    .bind(row.id.as_str())
    .bind(row.check.as_bytes())
    .bind(row.at.as_millis())
    .execute(&mut *db)
    .await?;
    Ok(key_row(db, &row.id).await?.unwrap_or(row))
}

/// Returns the statement that replaces a value that has not changed since it was read.
pub(super) fn swap(Reseal { old, new }: Reseal) -> QueryBuilder<Sqlite> {
    let source = source(old.place.column);
    let place = Position::of(&old.place);
    let mut query = QueryBuilder::new("UPDATE ");
    query.push(format_args!(
        "{} AS t SET {} = ",
        source.table, source.sealed
    ));
    query.push_bind(new.as_bytes().to_vec());
    query.push(format_args!(", {} = ", source.key));
    query.push_bind(new.key().to_string());
    query.push(" FROM (SELECT ").push_bind(place.workspace);
    query.push(" AS workspace, ").push_bind(place.owner);
    query.push(" AS owner, ").push_bind(place.name);
    query.push(" AS name, ").push_bind(place.number);
    query.push(format_args!(
        " AS number) AS c WHERE {} AND t.{} = ",
        source.at::<Sqlite>(),
        source.sealed
    ));
    query.push_bind(old.bytes.to_vec());
    query
}

async fn reseal(db: &mut SqliteConnection, changes: Vec<Reseal>) -> Result<u64, Fault> {
    let keys: BTreeSet<&KeyId> = changes.iter().map(|change| change.new.key()).collect();
    for key in keys {
        check_use(db, key).await?;
    }
    let mut done = 0;
    for change in changes {
        let swapped = swap(change).build().execute(&mut *db).await?;
        done += swapped.rows_affected();
    }
    Ok(done)
}

pub(super) async fn retire(
    db: &mut SqliteConnection,
    key: KeyId,
    now: Timestamp,
) -> Result<(), Fault> {
    let row = key_row(&mut *db, &key).await?;
    let uses = key_uses(&counts::<Sqlite>().query.build().fetch_all(&mut *db).await?)?;
    SealKeyRow::check_retirement(&key, row.as_ref(), &uses)?;
    sqlx::query("UPDATE seal_key SET retired = ? WHERE id = ? AND retired IS NULL")
        .bind(now.as_millis())
        .bind(key.as_str())
        .execute(db)
        .await?;
    Ok(())
}

#[cfg(feature = "seal")]
impl SqliteStore {
    /// Returns a handle of this store that seals contents with the keys of a vault: the arguments of approvals (including edited arguments), the
    /// contents of messages, the events of threads, plans and the states of their runs, spilled outputs, and the stored responses of idempotency
    /// keys. Documents, rooms, the prompts of scheduled tasks and some other contents stay in clear text; [`seal`](crate::seal#contents) lists them.
    ///
    /// Pass clones of this handle to every part of the host. The vault keeps the store without sealing, because it seals its values itself.
    ///
    /// ```
    /// use tool_store::seal::{SealKey, SealKeys, Vault};
    /// use tool_store::{NewMessage, Role, SqliteStore, ThreadId, ThreadStore, Timestamp};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let plain = SqliteStore::in_memory().await?;
    /// // A host reads its keys with `SealKeys::from_env` or `SealKeys::from_file`.
    /// let vault = Vault::open(plain.clone(), SealKeys::new("2026-11", SealKey::generate()?)?).await?;
    /// let store = plain.clone().sealing(&vault)?;
    ///
    /// let thread = ThreadId::new("acme", "main")?;
    /// let content = r#""my number is 4711""#.to_owned();
    /// let message = NewMessage { thread: thread.clone(), role: Role::User, answers: None, follows: None, content, at: Timestamp::now() };
    /// store.append(message).await?;
    /// assert!(store.read(&thread, None).await?[0].content.contains("4711"));
    /// assert!(plain.read(&thread, None).await.is_err()); // without the keys, the message cannot be read
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Fails with [`VaultError::NoKeys`] if the vault was opened without keys.
    pub fn sealing(mut self, vault: &Vault) -> Result<Self, VaultError> {
        vault.require_keys()?;
        self.contents = Contents::sealed_by(vault.clone());
        Ok(self)
    }
}

impl SealStore for SqliteStore {
    fn register_key(&self, row: SealKeyRow) -> StoreFuture<'_, SealKeyRow> {
        step(async move {
            // If an earlier process has stored the key, the write lock is not needed.
            if let Some(stored) = key_row(&self.readers, &row.id).await? {
                return Ok(stored);
            }
            self.change(|db| Box::pin(register(db, row))).await
        })
    }

    fn keys(&self) -> StoreFuture<'_, Vec<SealKeyRow>> {
        step(async move {
            let rows = sqlx::query("SELECT id, check_value, at, retired FROM seal_key ORDER BY id")
                .fetch_all(&self.readers)
                .await?;
            Ok(rows.iter().map(read_key).collect::<Result<_, _>>()?)
        })
    }

    fn key_uses(&self) -> StoreFuture<'_, Vec<KeyUse>> {
        step(async move {
            Ok(key_uses(
                &counts::<Sqlite>()
                    .query
                    .build()
                    .fetch_all(&self.readers)
                    .await?,
            )?)
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
            let mut query = listing::<Sqlite>(column, key, after, most).query;
            let rows = query.build().fetch_all(&self.readers).await?;
            let read = |row| sealed_row(row, column);
            Ok(rows.iter().map(read).collect::<Result<_, _>>()?)
        })
    }

    fn reseal(&self, changes: Vec<Reseal>) -> StoreFuture<'_, u64> {
        step(self.change(|db| Box::pin(reseal(db, changes))))
    }

    fn retire_key<'a>(&'a self, key: &'a KeyId, now: Timestamp) -> StoreFuture<'a, ()> {
        let key = key.clone();
        step(self.change(move |db| Box::pin(retire(db, key, now))))
    }
}
