//! The stores on SQLite.

mod approval;
mod audit;
mod catalogue;
mod columns;
mod ledger;
mod open;
mod spill;
#[cfg(test)]
mod tests;
mod thread;

use std::future::Future;

use sqlx::query::Query;
use sqlx::sqlite::{SqliteArguments, SqlitePool};
use sqlx::{QueryBuilder, Sqlite, Transaction};
use tool_core::store::{StoreError, StoreFuture};

pub use open::OpenError;

/// The five stores of [`tool_core::store`] on one SQLite database.
///
/// A change is one transaction that takes the write lock when it begins (`BEGIN IMMEDIATE`), so what it read is still true when it
/// writes, also among processes. It is on the disk when its future is ready (`synchronous = FULL`, write-ahead log). Within the
/// process writers queue for one connection; among processes they wait for the lock for up to half a minute, after which the change
/// did not happen and the error is [`StoreError::Unavailable`]. Readers wait for nobody.
///
/// The file, its `-wal` and its `-shm` belong together, and lie on a disk of this machine: SQLite's locks do not hold over network
/// file systems. Clones share the connections. Methods run within a tokio runtime that has its timer on.
#[derive(Clone, Debug)]
pub struct SqliteStore {
    writer: SqlitePool,
    readers: SqlitePool,
    durable: bool,
}

impl SqliteStore {
    /// A transaction that holds the write lock; dropped, it is rolled back.
    async fn change(&self) -> Result<Transaction<'static, Sqlite>, Fault> {
        Ok(self.writer.begin_with("BEGIN IMMEDIATE").await?)
    }

    /// Runs one `UPDATE` or `DELETE`, and returns how many rows it met.
    async fn update(&self, query: Query<'_, Sqlite, SqliteArguments>) -> Result<u64, Fault> {
        let mut change = self.change().await?;
        let done = query.execute(&mut *change).await?;
        change.commit().await?;
        Ok(done.rows_affected())
    }

    /// Brings what was removed out of the write-ahead log as well. Freed pages of the file are overwritten by `secure_delete`.
    async fn forget(&self) -> Result<(), Fault> {
        sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)")
            .fetch_all(&self.writer)
            .await?;
        Ok(())
    }
}

/// An error on its way out of a method.
struct Fault(StoreError);

impl From<sqlx::Error> for Fault {
    fn from(error: sqlx::Error) -> Self {
        Self(StoreError::Unavailable(Box::new(error)))
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Self(error)
    }
}

/// A method's body as the future that its trait wants.
fn step<'a, T: 'a>(body: impl Future<Output = Result<T, Fault>> + Send + 'a) -> StoreFuture<'a, T> {
    Box::pin(async move { body.await.map_err(|Fault(error)| error) })
}

/// Narrows a query that ends in a condition to rows where a column has a value, where one is wanted.
fn narrow(query: &mut QueryBuilder<Sqlite>, column: &str, wanted: Option<&str>) {
    if let Some(wanted) = wanted {
        query.push(format_args!(" AND {column} = "));
        query.push_bind(wanted.to_owned());
    }
}
