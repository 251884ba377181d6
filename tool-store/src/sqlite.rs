//! The stores on SQLite.

mod approval;
mod audit;
mod catalogue;
mod columns;
mod failure;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod groups;
mod journal;
mod ledger;
mod maintenance;
mod open;
mod queue;
mod run;
mod spill;
mod switch;
#[cfg(test)]
mod tests;
mod thread;
mod watch;
mod writer;

use std::future::Future;

use sqlx::query::Query;
use sqlx::sqlite::{SqliteArguments, SqliteConnection, SqlitePool};
use sqlx::{QueryBuilder, Sqlite};
use tool_core::store::{Scope, StoreError, StoreFuture, Timestamp, Workspace};

use failure::Failure;
use queue::{Step, Turn};
use writer::Writer;

pub use open::OpenError;

/// The six stores of [`tool_core::store`] on one SQLite database.
///
/// A change runs in a transaction that takes the write lock when it begins (`BEGIN IMMEDIATE`), so what it read is still true when it
/// writes, also among processes. It is on the disk when its future is ready (`synchronous = FULL`, write-ahead log). Within the
/// process writers queue for one connection, and changes that wait at the same time share a transaction, each in a savepoint of its own:
/// one `fsync` for up to 32 of them. A change that is refused does not touch the others. Among processes changes wait for the lock for up to
/// half a minute, after which the change did not happen and the error is [`StoreError::Unavailable`]. Readers wait for nobody.
/// [`EffectLedger::end`] and [`EffectLedger::renew`] run before all other waiting changes, so that no lease expires while a call waits
/// for its end to be stored. The same methods of [`RunStore`] do so as well.
///
/// One of the callers that share a transaction runs it. When that caller goes away, another one goes on; a change whose caller goes away
/// before it has begun is not made.
///
/// A change that fails for a full disk, an I/O error, a lock, or a file that is missing is rolled back, and its error is
/// [`StoreError::Unavailable`]. The next change opens the file anew where that is needed, so that the store works again as soon as the
/// fault is gone. A file that is missing is never made anew: that would forget which effects were begun.
///
/// The file, its `-wal` and its `-shm` belong together, and lie on a disk of this machine: SQLite's locks do not hold over network
/// file systems. Do not move, replace or remove them while a program has them open. Clones share the connections. Methods run within a tokio runtime that has its timer on.
///
/// [`EffectLedger::end`]: tool_core::store::EffectLedger::end
/// [`RunStore`]: tool_core::store::RunStore
/// [`EffectLedger::renew`]: tool_core::store::EffectLedger::renew
#[derive(Clone, Debug)]
pub struct SqliteStore {
    writer: Writer,
    readers: SqlitePool,
    durable: bool,
}

impl SqliteStore {
    /// Runs statements in a transaction that holds the write lock, and returns when it is on the disk. An error leaves nothing of them.
    async fn change<T: Send + 'static>(
        &self,
        body: impl for<'c> FnOnce(&'c mut SqliteConnection) -> Step<'c, T> + Send + 'static,
    ) -> Result<T, Fault> {
        self.writer.change(Turn::Ordinary, body).await
    }

    /// A [`change`](Self::change) that passes all others that wait, for the end of what was begun.
    async fn change_first<T: Send + 'static>(
        &self,
        body: impl for<'c> FnOnce(&'c mut SqliteConnection) -> Step<'c, T> + Send + 'static,
    ) -> Result<T, Fault> {
        self.writer.change(Turn::First, body).await
    }

    /// Whether a reader finds no row. A reader takes no lock that others wait for.
    async fn has_none(&self, mut query: QueryBuilder<Sqlite>) -> Result<bool, Fault> {
        let found = query.build().fetch_optional(&self.readers).await?;
        Ok(found.is_none())
    }

    /// Runs one `UPDATE` or `DELETE`, and returns how many rows it met.
    async fn update(&self, query: Query<'static, Sqlite, SqliteArguments>) -> Result<u64, Fault> {
        self.change(|db| Box::pin(async move { Ok(query.execute(db).await?.rows_affected()) }))
            .await
    }

    /// [`update`](Self::update) with a statement that was put together.
    async fn update_built(&self, mut query: QueryBuilder<Sqlite>) -> Result<u64, Fault> {
        self.change(|db| {
            Box::pin(async move { Ok(query.build().execute(db).await?.rows_affected()) })
        })
        .await
    }

    /// Brings what was removed out of the write-ahead log as well. Freed pages of the file are overwritten by `secure_delete`.
    async fn forget(&self) -> Result<(), Fault> {
        self.writer.run("PRAGMA wal_checkpoint(TRUNCATE)").await
    }
}

/// An error on its way out of a method.
#[derive(Debug)]
struct Fault(StoreError);

impl From<sqlx::Error> for Fault {
    fn from(error: sqlx::Error) -> Self {
        Self(StoreError::Unavailable(Box::new(Failure::from(error))))
    }
}

impl From<Fault> for StoreError {
    fn from(Fault(error): Fault) -> Self {
        error
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Self(error)
    }
}

/// A method's body as the future that its trait wants.
fn step<'a, T: 'a>(body: impl Future<Output = Result<T, Fault>> + Send + 'a) -> StoreFuture<'a, T> {
    Box::pin(async move { body.await.map_err(StoreError::from) })
}

/// Narrows a query that ends in a condition to the rows of a scope.
fn narrow_to_scope(query: &mut QueryBuilder<Sqlite>, scope: Scope<'_>) {
    narrow(query, "workspace", scope.workspace().map(Workspace::as_str));
}

/// Orders a query that ends in a condition, and cuts it to a page: the rows after the last one of the page before.
fn page<const N: usize>(
    query: &mut QueryBuilder<Sqlite>,
    columns: [&str; N],
    newest_first: bool,
    after: Option<(Timestamp, [&str; N])>,
    limit: Option<u32>,
) {
    let (compare, order) = if newest_first {
        ("<", " DESC")
    } else {
        (">", "")
    };
    if let Some((at, values)) = after {
        // A comparison of rows, which SQLite answers from an index.
        query.push(format_args!(" AND ({}) {compare} (", columns.join(", ")));
        query.push_bind(at.as_millis());
        for value in &values[1..] {
            query.push(", ").push_bind((*value).to_owned());
        }
        query.push(")");
    }
    for (column, word) in columns
        .into_iter()
        .zip([" ORDER BY "].into_iter().chain(std::iter::repeat(", ")))
    {
        query.push(format_args!("{word}{column}{order}"));
    }
    if let Some(limit) = limit {
        query.push(" LIMIT ").push_bind(limit);
    }
}

/// Narrows a query that ends in a condition to rows where a column has a value, where one is wanted.
fn narrow(query: &mut QueryBuilder<Sqlite>, column: &str, wanted: Option<&str>) {
    if let Some(wanted) = wanted {
        query.push(format_args!(" AND {column} = "));
        query.push_bind(wanted.to_owned());
    }
}
