//! The SQLite implementation of the store traits.

mod administration;
mod approval;
mod audit;
mod budget;
mod catalogue;
mod change;
mod child;
mod directory;
mod enablement;
mod event;
mod failure;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod groups;
mod journal;
mod knowledge;
mod ledger;
mod limit;
mod long_term;
mod maintenance;
mod open;
mod plan;
mod queue;
mod room;
mod run;
mod schedule;
mod sealed;
mod secret;
mod spill;
mod statement;
mod stored_tool;
mod switch;
#[cfg(test)]
mod tests;
mod thread;
mod thread_event;
mod variable;
mod variable_request;
#[cfg(test)]
mod wal;
mod watch;
mod work;
mod writer;

use std::future::Future;

use crate::sql::columns::sql_row;
use crate::sql::contents::Contents;
use crate::store::{Scope, StoreError, StoreFuture, Timestamp, Workspace};
use sqlx::query::Query;
use sqlx::sqlite::{SqliteArguments, SqliteConnection, SqlitePool};
use sqlx::{QueryBuilder, Sqlite};

use failure::Failure;
use queue::{Priority, Step};
use writer::Writer;

pub use open::OpenError;

/// Implements the store traits on one SQLite database.
///
/// A change runs in a transaction that takes the write lock when it begins (`BEGIN IMMEDIATE`), so rows that it read are unchanged when it writes,
/// even if other processes use the file. A change of a file is on disk when its future completes (`synchronous = FULL`, write-ahead log). Within a
/// process, writers queue for one connection, and up to 32 waiting changes share a transaction and its `fsync`. Each change after the first has its
/// own savepoint. A refused change does not affect the other changes. Across processes, a change waits up to half a minute for the lock; after that
/// the change is not made, and the error is [`StoreError::Unavailable`]. Readers of a file do not wait for writers. Some changes run before all other
/// waiting changes, so that no lease expires while a call waits for its end to be stored: [`EffectLedger::end`] and [`EffectLedger::renew`];
/// `end_run`, `renew_run` and `stop_run` of [`RunStore`]; the methods that extend a lease or a claim; `release_work` and `end_task_attempt`; audit
/// rows that end a call; and batches of a journal that begin no run.
///
/// One of the callers that share a transaction runs it. If that caller is dropped, another caller continues. A change whose caller is
/// dropped before the change has begun is not made.
///
/// A change that fails because of a full disk, an I/O error, a lock or a missing file is rolled back, and its error is
/// [`StoreError::Unavailable`]. If necessary, the next change reopens the file, so that the store works again as soon as the fault is removed. The
/// store never creates a missing file again: a new file would not contain the effects that were begun.
///
/// The file, its `-wal` and its `-shm` belong together and must be on a local disk: SQLite's locks do not work on network file systems.
/// Do not move, replace or remove them while a program has them open. Clones share the connections. Methods must run within a tokio runtime
/// whose timer is enabled.
///
/// [`EffectLedger::end`]: crate::store::EffectLedger::end
/// [`RunStore`]: crate::store::RunStore
/// [`EffectLedger::renew`]: crate::store::EffectLedger::renew
#[derive(Clone, Debug)]
pub struct SqliteStore {
    writer: Writer,
    readers: SqlitePool,
    durable: bool,
    contents: Contents,
}

impl SqliteStore {
    /// Runs statements in a transaction that holds the write lock, and returns when it is on disk. After an error, nothing is stored.
    async fn change<T: Send + 'static>(
        &self,
        body: impl for<'c> FnOnce(&'c mut SqliteConnection) -> Step<'c, T> + Send + 'static,
    ) -> Result<T, Fault> {
        self.writer.change(Priority::Ordinary, body).await
    }

    /// Runs a [`change`](Self::change) before all ordinary changes that wait, for changes that end work or renew a lease.
    async fn change_first<T: Send + 'static>(
        &self,
        body: impl for<'c> FnOnce(&'c mut SqliteConnection) -> Step<'c, T> + Send + 'static,
    ) -> Result<T, Fault> {
        self.writer.change(Priority::First, body).await
    }

    /// Returns whether a query finds no row. The query runs on a reader, which does not block writers.
    async fn has_none(&self, mut query: QueryBuilder<Sqlite>) -> Result<bool, Fault> {
        let found = query.build().fetch_optional(&self.readers).await?;
        Ok(found.is_none())
    }

    /// Runs one `UPDATE` or `DELETE`, and returns the number of rows that it changed.
    async fn update(&self, query: Query<'static, Sqlite, SqliteArguments>) -> Result<u64, Fault> {
        self.change(|db| Box::pin(async move { Ok(query.execute(db).await?.rows_affected()) }))
            .await
    }

    /// Runs [`update`](Self::update) with a statement from a query builder.
    async fn update_built(&self, mut query: QueryBuilder<Sqlite>) -> Result<u64, Fault> {
        self.change(|db| {
            Box::pin(async move { Ok(query.build().execute(db).await?.rows_affected()) })
        })
        .await
    }

    /// Removes deleted contents from the write-ahead log. `secure_delete` already overwrites the freed pages of the database file.
    async fn forget(&self) -> Result<(), Fault> {
        self.writer.run("PRAGMA wal_checkpoint(TRUNCATE)").await
    }
}

/// The error type inside this module, which converts from sqlx errors.
#[derive(Debug)]
pub(crate) struct Fault(StoreError);

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

sql_row!(sqlx::sqlite::SqliteRow, str::to_owned);

/// Boxes a method's body as the future that its trait requires.
fn step<'a, T: 'a>(body: impl Future<Output = Result<T, Fault>> + Send + 'a) -> StoreFuture<'a, T> {
    Box::pin(async move { body.await.map_err(StoreError::from) })
}

/// Narrows a query that ends in a condition to the rows of a scope.
fn narrow_to_scope(query: &mut QueryBuilder<Sqlite>, scope: Scope<'_>) {
    narrow(query, "workspace", scope.workspace().map(Workspace::as_str));
}

/// Orders a query that ends in a condition, and limits it to one page: the rows after the last row of the previous page.
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
        // SQLite can use an index for a row-value comparison.
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

/// Narrows a query that ends in a condition to rows whose column equals `wanted`. `None` does not narrow it.
fn narrow(query: &mut QueryBuilder<Sqlite>, column: &str, wanted: Option<&str>) {
    if let Some(wanted) = wanted {
        query.push(format_args!(" AND {column} = "));
        query.push_bind(wanted.to_owned());
    }
}
