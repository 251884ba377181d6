//! Seal keys, and the sealed values of all tables, in SQLite.

use crate::sql::records::{key_uses, seal_key as read_key, sealed_row};
use crate::store::{
    KeyId, KeyUse, Reseal, SealKeyRow, SealStore, Sealed, SealedColumn, SealedPlace, SealedRow,
    StoreFuture, Timestamp,
};
use sqlx::sqlite::SqliteConnection;
use sqlx::{Executor, QueryBuilder, Sqlite};

use super::{Fault, SqliteStore, step};

/// A sealed column: its table, and the expression of the owner in [`SealedPlace`].
fn source(column: SealedColumn) -> (&'static str, &'static str) {
    match column {
        SealedColumn::Secret => ("secret", "''"),
        SealedColumn::Variable => ("variable", "level || ':' || owner"),
    }
}

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
pub(super) async fn check_use(db: &mut SqliteConnection, sealed: &Sealed) -> Result<(), Fault> {
    let row = key_row(db, sealed.key()).await?;
    Ok(SealKeyRow::check_use(sealed.key(), row.as_ref())?)
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

/// The query for the number of values of each column and key.
fn counts() -> QueryBuilder<Sqlite> {
    let mut query = QueryBuilder::new("");
    for (at, column) in SealedColumn::ALL.iter().enumerate() {
        let (table, _) = source(*column);
        if at > 0 {
            query.push(" UNION ALL ");
        }
        query.push(format_args!(
            "SELECT '{column}' AS sealed_column, seal_key, count(*) AS amount FROM {table} WHERE seal_key IS NOT NULL GROUP BY seal_key"
        ));
    }
    query
}

async fn reseal(db: &mut SqliteConnection, changes: Vec<Reseal>) -> Result<u64, Fault> {
    let mut keys: Vec<&Sealed> = changes.iter().map(|change| &change.new).collect();
    keys.sort_by_key(|sealed| sealed.key());
    keys.dedup_by_key(|sealed| sealed.key());
    for sealed in keys {
        check_use(db, sealed).await?;
    }
    let mut done = 0;
    for Reseal { old, new } in changes {
        let (table, owner) = source(old.place.column);
        let mut query = QueryBuilder::<Sqlite>::new("UPDATE ");
        query.push(table).push(" SET sealed = ");
        query.push_bind(new.as_bytes().to_vec());
        query.push(", seal_key = ");
        query.push_bind(new.key().to_string());
        query.push(" WHERE workspace = ");
        query.push_bind(old.place.workspace.to_string());
        query.push(" AND id = ").push_bind(old.place.id);
        query.push(format_args!(" AND {owner} = "));
        query.push_bind(old.place.owner).push(" AND sealed = ");
        query.push_bind(old.bytes.to_vec());
        done += query.build().execute(&mut *db).await?.rows_affected();
    }
    Ok(done)
}

pub(super) async fn retire(
    db: &mut SqliteConnection,
    key: KeyId,
    now: Timestamp,
) -> Result<(), Fault> {
    let row = key_row(&mut *db, &key).await?;
    let uses = key_uses(&counts().build().fetch_all(&mut *db).await?)?;
    SealKeyRow::check_retirement(&key, row.as_ref(), &uses)?;
    sqlx::query("UPDATE seal_key SET retired = ? WHERE id = ? AND retired IS NULL")
        .bind(now.as_millis())
        .bind(key.as_str())
        .execute(db)
        .await?;
    Ok(())
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
        step(async move { Ok(key_uses(&counts().build().fetch_all(&self.readers).await?)?) })
    }

    fn sealed<'a>(
        &'a self,
        column: SealedColumn,
        key: &'a KeyId,
        after: Option<&'a SealedPlace>,
        most: u32,
    ) -> StoreFuture<'a, Vec<SealedRow>> {
        step(async move {
            let (table, owner) = source(column);
            let mut query = QueryBuilder::new("SELECT workspace, id, ");
            query.push(owner).push(" AS place_owner, sealed FROM ");
            query.push(table).push(" WHERE seal_key = ");
            query.push_bind(key.as_str());
            if let Some(after) = after {
                query.push(" AND (workspace, id) > (");
                query.push_bind(after.workspace.as_str()).push(", ");
                query.push_bind(&after.id).push(")");
            }
            query.push(" ORDER BY workspace, id LIMIT ").push_bind(most);
            let rows = query.build().fetch_all(&self.readers).await?;
            let read = |row| sealed_row(row, column, table);
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
