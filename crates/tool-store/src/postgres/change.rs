//! Transactions: retries, and the outcome of a transaction whose `COMMIT` got no response.
//!
//! A transaction begins with the simple query `BEGIN; …; SELECT …`, which costs one round trip, returns the id of the transaction
//! (`pg_current_xact_id()`) and the database's time, and takes advisory locks that end with the transaction. No setting or lock of the connection
//! outlives a transaction, so the store works through a pooler in transaction mode.

use std::fmt::Write as _;
use std::ops::{Deref, DerefMut};
use std::time::Duration;

use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgArguments, PgConnection, PgRow};
use sqlx::query::{Query, QueryScalar};
use sqlx::{AssertSqlSafe, Executor as _, FromRow, Postgres, Row as _};
use tokio::time::{sleep, timeout};

use crate::env;
use crate::store::{StoreError, Timestamp};

use super::failure::{Cause, Failure};
use super::{Fault, PostgresStore};

/// Maximum number of retries of a transaction after conflicts with other transactions.
const CONTENDED: u32 = 10;

/// Maximum number of retries of a transaction or a read after lost connections.
const LOST: u32 = 3;

/// The maximum timeout of `COMMIT` and `ROLLBACK`, and of queries for the outcome of a transaction. A shorter timeout of the store applies instead.
const ENDING: Duration = Duration::from_secs(10);

/// The outcome of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Committed,
    RolledBack,
}

/// The numbers of retries of a transaction or a read.
#[derive(Debug, Default)]
pub(super) struct Tries {
    contended: u32,
    lost: u32,
}

impl Tries {
    /// Returns whether to retry after an error. Waits briefly after a conflict with a different transaction.
    pub(super) async fn again(&mut self, cause: Cause) -> bool {
        match cause {
            Cause::Contended if self.contended < CONTENDED => {
                self.contended += 1;
                sleep(self.pause()).await;
                true
            }
            Cause::Lost if self.lost < LOST => {
                self.lost += 1;
                true
            }
            _ => false,
        }
    }

    /// Returns a pause that doubles with each of the first six retries. It is partly random, so that conflicting transactions do not retry at the
    /// same time.
    fn pause(&self) -> Duration {
        let random = env::distinct().map_or(0, |bytes| u64::from(bytes[0]));
        Duration::from_micros((500 + random * 8) << self.contended.min(6))
    }
}

/// The clock that decides when leases and deadlines expire in one transaction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    /// The database's time when the transaction began; `None` if the caller's clock decides.
    database: Option<i64>,
}

impl Clock {
    /// Converts a deadline of the caller's clock, whose time is `now`, to the deciding clock.
    pub(super) fn lapses(self, deadline: Timestamp, now: Timestamp) -> i64 {
        let deadline = deadline.as_millis();
        self.database.map_or(deadline, |database| {
            database.saturating_add(deadline.saturating_sub(now.as_millis()))
        })
    }

    /// Converts a stored deadline to the caller's clock, whose time is `now`.
    pub(super) fn seen(self, lapses: i64, deadline: Timestamp, now: Timestamp) -> Timestamp {
        self.database.map_or(deadline, |database| {
            let left = lapses.saturating_sub(database);
            Timestamp::from_millis(now.as_millis().saturating_add(left))
        })
    }

    /// Returns the time to compare stored deadlines with.
    pub(super) fn now(self, now: Timestamp) -> i64 {
        self.database.unwrap_or(now.as_millis())
    }
}

/// A connection of the pool. Unless it was [given back](Self::give_back), it is closed when dropped: if a caller is dropped during a statement, the
/// connection may never respond again, and the pool would wait for its response forever.
#[derive(Debug)]
pub(super) struct Lease {
    connection: PoolConnection<Postgres>,
    is_idle: bool,
}

impl Lease {
    /// Marks the connection as idle: its last statement has completed, and it is not in a transaction.
    pub(super) fn give_back(&mut self) {
        self.is_idle = true;
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if !self.is_idle {
            // The server rolls a transaction back when its connection ends.
            self.connection.close_on_drop();
        }
    }
}

impl Deref for Lease {
    type Target = PgConnection;

    fn deref(&self) -> &PgConnection {
        &self.connection
    }
}

impl DerefMut for Lease {
    fn deref_mut(&mut self) -> &mut PgConnection {
        &mut self.connection
    }
}

/// A transaction. It is rolled back when dropped.
pub(super) struct Change<'s> {
    store: &'s PostgresStore,
    connection: Lease,
    /// The transaction's id, as text.
    id: String,
    /// The server process that runs the transaction.
    process: i32,
    pub(super) clock: Clock,
}

impl PostgresStore {
    /// Returns a connection of the pool.
    pub(super) async fn connection(&self) -> Result<Lease, sqlx::Error> {
        Ok(Lease {
            connection: self.0.pool.acquire().await?,
            is_idle: false,
        })
    }

    /// Begins a transaction, and takes the advisory locks with these numbers until its end.
    pub(super) async fn begin(&self, mut locks: Vec<i64>) -> Result<Change<'_>, Fault> {
        // All transactions take their locks in the same order, which prevents deadlocks.
        locks.sort_unstable();
        locks.dedup();
        let mut text = format!(
            "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SET LOCAL lock_timeout = {patience}; \
             SET LOCAL idle_in_transaction_session_timeout = {patience}; \
             SELECT pg_current_xact_id()::text, pg_backend_pid(), (extract(epoch FROM clock_timestamp()) * 1000)::bigint",
            patience = self.0.patience.as_millis()
        );
        for lock in locks {
            // Writing to a `String` cannot fail.
            let _ = write!(text, ", pg_advisory_xact_lock({lock})");
        }
        let mut tries = Tries::default();
        loop {
            let mut connection = self.connection().await?;
            let begun = async {
                let rows = connection.fetch_all(AssertSqlSafe(&*text)).await?;
                let row = rows.first().ok_or(sqlx::Error::RowNotFound)?;
                Ok((row.try_get(0)?, row.try_get(1)?, row.try_get(2)?))
            };
            let begun = match timeout(self.0.patience, begun).await {
                Ok(begun) => begun,
                Err(_) => Err(too_slow(self.0.patience)),
            };
            match begun {
                Ok((id, process, database)) => {
                    let database = self.0.is_database_clock.then_some(database);
                    return Ok(Change {
                        store: self,
                        connection,
                        id,
                        process,
                        clock: Clock { database },
                    });
                }
                Err(error) => {
                    let cause = Cause::of(&error);
                    self.discard(connection, cause);
                    if !tries.again(cause).await {
                        return Err(error.into());
                    }
                }
            }
        }
    }

    /// Closes a connection after an error. If it was lost, the other idle connections are tested before they are used again.
    pub(super) fn discard(&self, connection: Lease, cause: Cause) {
        if cause == Cause::Lost {
            self.0.losses.mark();
        }
        drop(connection);
    }

    /// Returns the outcome of a transaction. Fails with the last reason if the outcome is still not known after the timeout.
    async fn outcome(&self, id: &str, process: i32) -> Result<Outcome, String> {
        let (began, patience) = (env::monotonic(), self.patience().min(ENDING));
        let mut pause = Duration::from_millis(5);
        loop {
            let why = match timeout(patience, self.ask_outcome(id, process)).await {
                Ok(Ok(Some(outcome))) => return Ok(outcome),
                Ok(Ok(None)) => "the server still runs the transaction".to_owned(),
                Ok(Err(error)) => Failure::from(error).to_string(),
                Err(_) => "the server does not answer".to_owned(),
            };
            if env::elapsed(began) >= patience {
                return Err(why);
            }
            sleep(pause).await;
            pause = (pause * 2).min(Duration::from_millis(500));
        }
    }

    /// Queries the outcome of a transaction once. Terminates a transaction that still runs, and returns `None` for it.
    async fn ask_outcome(&self, id: &str, process: i32) -> Result<Option<Outcome>, sqlx::Error> {
        let mut connection = self.connection().await?;
        // A pooler forwards a simple query in a single message. The texts need no escaping: they contain only an id from the server and a number.
        let ask = format!("SELECT pg_xact_status('{id}'::xid8)");
        let status: Option<String> = match connection.fetch_one(AssertSqlSafe(ask)).await {
            Ok(row) => row.try_get(0)?,
            Err(error) => {
                let cause = Cause::of(&error);
                self.discard(connection, cause);
                return Err(error);
            }
        };
        match status.as_deref() {
            Some("committed") => {
                connection.give_back();
                Ok(Some(Outcome::Committed))
            }
            Some("aborted") => {
                connection.give_back();
                Ok(Some(Outcome::RolledBack))
            }
            // The server may not have detected the lost connection yet, and would keep the transaction and its locks.
            Some(_) => {
                let end = format!(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                     WHERE pid = {process} AND backend_xid = '{id}'::xid8::xid"
                );
                connection.execute(AssertSqlSafe(end)).await?;
                connection.give_back();
                Ok(None)
            }
            None => Err(sqlx::Error::Protocol(
                "the server has no record of the transaction".to_owned(),
            )),
        }
    }
}

impl Change<'_> {
    /// Returns a statement for this transaction.
    pub(super) fn query(&self, sql: &'static str) -> Query<'static, Postgres, PgArguments> {
        sqlx::query(sql).persistent(self.is_named())
    }

    /// Returns a statement for this transaction whose result has one column.
    pub(super) fn scalar<T>(
        &self,
        sql: &'static str,
    ) -> QueryScalar<'static, Postgres, T, PgArguments>
    where
        (T,): for<'r> FromRow<'r, PgRow>,
    {
        sqlx::query_scalar(sql).persistent(self.is_named())
    }

    /// Returns whether statements are prepared under a name and reused on the connection.
    pub(super) fn is_named(&self) -> bool {
        self.store.is_named()
    }

    /// Ends the transaction after its statements. Returns `None` if the transaction must be retried.
    pub(super) async fn end<T>(
        mut self,
        done: Result<T, Fault>,
        tries: &mut Tries,
    ) -> Option<Result<T, Fault>> {
        let (value, error) = match done {
            Ok(value) => match self.commit().await {
                Ok(()) => return Some(Ok(value)),
                Err(error) => (Some(value), error),
            },
            Err(Fault::Refused(error)) => {
                self.roll_back().await;
                return Some(Err(Fault::Refused(error)));
            }
            Err(Fault::Failed(error)) => (None, error),
        };
        let cause = Cause::of(&error);
        let Some(value) = value else {
            // `COMMIT` was not sent, so nothing was stored.
            if cause != Cause::Lost {
                self.roll_back().await;
            }
            self.close(cause);
            return (!tries.again(cause).await).then_some(Err(error.into()));
        };
        let (store, id, process) = (self.store, std::mem::take(&mut self.id), self.process);
        self.close(cause);
        if cause != Cause::Lost {
            return (!tries.again(cause).await).then_some(Err(error.into()));
        }
        match store.outcome(&id, process).await {
            Ok(Outcome::Committed) => Some(Ok(value)),
            Ok(Outcome::RolledBack) => (!tries.again(cause).await).then_some(Err(error.into())),
            Err(why) => Some(Err(StoreError::Unavailable(Box::new(UnknownOutcome {
                transaction: id,
                why,
            }))
            .into())),
        }
    }

    async fn commit(&mut self) -> Result<(), sqlx::Error> {
        let patience = self.store.patience().min(ENDING);
        let committed = timeout(patience, self.connection.execute("COMMIT")).await;
        committed.unwrap_or_else(|_| Err(too_slow(patience)))?;
        self.connection.give_back();
        Ok(())
    }

    /// Rolls the transaction back, so that the connection can be used again.
    async fn roll_back(&mut self) {
        let patience = self.store.patience().min(ENDING);
        let done = timeout(patience, self.connection.execute("ROLLBACK")).await;
        if matches!(done, Ok(Ok(_))) {
            self.connection.give_back();
        }
    }

    /// Returns the connection to the pool if the transaction has ended, and closes it otherwise.
    fn close(self, cause: Cause) {
        if cause == Cause::Lost {
            self.store.0.losses.mark();
        }
    }
}

impl Deref for Change<'_> {
    type Target = PgConnection;

    fn deref(&self) -> &PgConnection {
        &self.connection
    }
}

impl DerefMut for Change<'_> {
    fn deref_mut(&mut self) -> &mut PgConnection {
        &mut self.connection
    }
}

/// The source of a [`StoreError::Unavailable`] for a change that may or may not have been made: the connection was lost during the commit, and the
/// server did not report the outcome afterwards.
#[derive(Debug, thiserror::Error)]
#[error(
    "the outcome of transaction {transaction} is unknown, because the connection was lost during its commit and {why}; read the record before you repeat the change"
)]
pub struct UnknownOutcome {
    transaction: String,
    why: String,
}

/// Returns the error of statements or a connection attempt that took too long. The connection is closed, because the server may never respond.
pub(super) fn too_slow(patience: Duration) -> sqlx::Error {
    let text = format!("the server did not answer within {} s", patience.as_secs());
    sqlx::Error::Io(std::io::Error::new(std::io::ErrorKind::TimedOut, text))
}

/// Begins a transaction that only reads.
pub(super) async fn read_only(connection: &mut PgConnection) -> Result<(), sqlx::Error> {
    connection.execute("BEGIN READ ONLY").await.map(drop)
}

/// Ends a transaction that has only read.
pub(super) async fn commit_read(connection: &mut PgConnection) -> Result<(), sqlx::Error> {
    connection.execute("COMMIT").await.map(drop)
}

/// Runs statements in a transaction, and returns when it is on disk. After an error other than [`UnknownOutcome`], nothing is stored.
///
/// The statements are an expression of the type `Result<T, Fault>`, in which `?` is allowed. They run again after a conflict with a different transaction or
/// the loss of the connection, so they must not move captured values.
macro_rules! change {
    ($store:expr, $locks:expr, $db:ident => $body:expr) => {{
        let store: &$crate::postgres::PostgresStore = $store;
        let mut tries = $crate::postgres::change::Tries::default();
        loop {
            let mut change = store.begin($locks).await?;
            let done = {
                let $db = &mut change;
                tokio::time::timeout(store.patience(), async { $body }).await
            };
            let done = match done {
                Ok(done) => done,
                Err(_) => Err($crate::postgres::change::too_slow(store.patience()).into()),
            };
            if let Some(done) = change.end(done, &mut tries).await {
                break done;
            }
        }
    }};
}

/// Runs a query outside of a transaction with one of sqlx's methods that begin with `fetch`. The query is built again for each retry.
macro_rules! fetch {
    ($store:expr, $method:ident, $query:expr) => {{
        let store: &$crate::postgres::PostgresStore = $store;
        let mut tries = $crate::postgres::change::Tries::default();
        loop {
            let mut connection = store.connection().await?;
            let found = tokio::time::timeout(store.patience(), async {
                let is_named = store.is_named();
                if !is_named {
                    // A pooler forwards both steps of the statement, parsing and running, to the same server connection only within a transaction.
                    $crate::postgres::change::read_only(&mut connection).await?;
                }
                let found = $query.persistent(is_named).$method(&mut *connection).await?;
                if !is_named {
                    $crate::postgres::change::commit_read(&mut connection).await?;
                }
                Ok(found)
            });
            let error = match found.await {
                Ok(Ok(found)) => {
                    connection.give_back();
                    break found;
                }
                Ok(Err(error)) => error,
                Err(_) => $crate::postgres::change::too_slow(store.patience()),
            };
            let cause = $crate::postgres::failure::Cause::of(&error);
            store.discard(connection, cause);
            if !tries.again(cause).await {
                return Err(error.into());
            }
        }
    }};
}

/// Runs queries in a transaction that only reads, with a [`Planned`](crate::postgres::statement::Planned) reader.
///
/// The queries are an expression of the type `Result<T, Fault>`, in which `?` is allowed. They run again after the loss of the connection or a
/// conflict, so they must not move captured values.
macro_rules! read_planned {
    ($store:expr, $db:ident => $body:expr) => {{
        let store: &$crate::postgres::PostgresStore = $store;
        let mut tries = $crate::postgres::change::Tries::default();
        loop {
            let mut connection = store.connection().await?;
            let done = tokio::time::timeout(store.patience(), async {
                $crate::postgres::change::read_only(&mut connection).await?;
                let mut planned = $crate::postgres::statement::Planned(&mut connection);
                let $db = &mut planned;
                let found = async { $body }.await?;
                $crate::postgres::change::commit_read(&mut connection).await?;
                Ok(found)
            });
            let done: Result<_, $crate::postgres::Fault> = match done.await {
                Ok(done) => done,
                Err(_) => Err($crate::postgres::change::too_slow(store.patience()).into()),
            };
            match done {
                Ok(found) => {
                    connection.give_back();
                    break Ok(found);
                }
                Err($crate::postgres::Fault::Failed(error)) => {
                    let cause = $crate::postgres::failure::Cause::of(&error);
                    store.discard(connection, cause);
                    if !tries.again(cause).await {
                        break Err($crate::postgres::Fault::Failed(error));
                    }
                }
                Err(refused) => break Err(refused),
            }
        }
    }};
}

pub(super) use {change, fetch, read_planned};
