//! The PostgreSQL implementation of the store traits.

mod change;
mod failure;
mod open;

mod administration;
mod approval;
mod audit;
mod budget;
mod catalogue;
mod child;
mod directory;
mod enablement;
mod event;
mod journal;
mod knowledge;
mod ledger;
mod limit;
mod listen;
mod long_term;
mod maintenance;
mod plan;
mod request;
mod room;
mod run;
mod schedule;
mod sealed;
mod secret;
mod spill;
mod statement;
#[cfg(feature = "suite")]
mod statements;
mod stored_tool;
mod switch;
mod text;
mod thread;
mod thread_event;
mod variable;
mod variable_request;
mod work;

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::env;
use crate::sql::contents::Contents;
use crate::store::{CallKey, Scope, StoreError, StoreFuture, Timestamp, Workspace};
use sqlx::postgres::{PgConnectOptions, PgPool};
use sqlx::{Postgres, QueryBuilder};

pub use change::UnknownOutcome;
pub use long_term::{MemoryIndex, MemoryIndexing};
pub use open::{ConnectError, PostgresClock, PostgresOptions};
#[cfg(feature = "suite")]
pub use statements::statements;

/// Implements the store traits on one PostgreSQL database, for many processes on many hosts.
///
/// ```no_run
/// use tool_store::{AuditFilter, AuditSink, PostgresOptions, PostgresStore, Scope};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // One URL for everything…
/// let store = PostgresStore::open("postgres://tools@db.example/tools").await?;
///
/// // …or a pooler for the calls, and the server itself for migrations and notifications.
/// let server = "postgres://tools@db.example/tools";
/// let store = PostgresOptions::new("postgres://tools@pooler.example:6432/tools")?
///     .migrator(server)?
///     .listener(server)?
///     .unprepared(true)
///     .connections(20)
///     .open()
///     .await?;
/// let rows = store.export(Scope::All, &AuditFilter::default()).await?;
/// # drop(rows);
/// # Ok(())
/// # }
/// ```
///
/// The tables are in the schema `tool_store`, which the first process creates. Many processes may start at once: one of them migrates the tables,
/// and the other processes wait.
///
/// # Transactions
///
/// Each change is one transaction. It locks the rows that it reads, so that two processes never apply a step to the same row at once. A change that fails
/// because of a conflict with another transaction (a deadlock, a serialization failure) is retried up to ten times.
///
/// If the connection is lost before `COMMIT` is sent, nothing is stored, and the change is retried on a new connection, up to three times. If it is
/// lost during `COMMIT`, the store queries the outcome of the transaction on a new connection (`pg_xact_status`), and retries the change if the
/// transaction was rolled back. If the server does not report the outcome within about ten seconds, the error is a [`StoreError::Unavailable`] whose
/// source is an [`UnknownOutcome`].
///
/// # Clocks
///
/// The clock of the database decides when, for example, leases, approvals and spilled outputs expire, so the clocks of the hosts may differ: the
/// store adds the duration until the caller's deadline to the time of the database. Timestamps are returned as the caller wrote them. In tests,
/// [`PostgresOptions::clock`] can select the caller's clock instead.
///
/// # Connections
///
/// No settings or locks of a connection outlive a transaction, so the store can connect through a pooler in transaction mode. A pooler that does not
/// support prepared statements, such as PgBouncer before version 1.21, needs [`PostgresOptions::unprepared`]. Clones share the connections. Methods must
/// run within a tokio runtime whose I/O and timer are enabled.
///
/// # Changes of other processes
///
/// A kill switch or an enablement row that one process sets takes effect in all other processes within a second: `tool_core::Switches` and
/// `tool_core::InstanceRules` poll a version number four times per second, and a notification (`NOTIFY`) usually shortens the wait to milliseconds. A
/// thread that one process queues wakes the workers of all other processes in the same way; they also poll. Notifications need a separate connection
/// ([`PostgresOptions::listener`]). The store tests it after two seconds without a notification, and replaces it if the server does not respond.
///
/// # Texts
///
/// A text of PostgreSQL cannot contain U+0000. The store refuses names (workspaces, users, conversations, keys) that contain it with
/// [`StoreError::Conflict`]. In all other texts, the store escapes U+0000, and restores it when it reads the text.
///
/// # Searches by similarity
///
/// A search for memories by an embedding first compares a code of each embedding in its scopes (one bit for each dimension) in the server. Then it
/// compares the embeddings with the nearest codes exactly. If the scopes of a search together have up to 1,024 embeddings of the model, all of them are
/// compared exactly. If they have more than 20,000, the search uses an index of pgvector 0.8 or later if [`index_memories`](Self::index_memories) has
/// created one; no extension is needed otherwise. The server needs PostgreSQL 14 or later.
///
/// # Erased contents
///
/// An erasure removes contents from the tables. The server keeps old row versions until a vacuum, and changes in its write-ahead log until the log is
/// recycled. The operator is responsible for backups.
#[derive(Clone, Debug)]
pub struct PostgresStore(Arc<Inner>, Contents);

#[derive(Debug)]
struct Inner {
    pool: PgPool,
    /// The server and the user for migrations and for the indexes of pgvector.
    migrator: PgConnectOptions,
    /// Whether the database's clock decides about deadlines.
    is_database_clock: bool,
    /// Whether connections reuse prepared statements.
    is_named: bool,
    /// Timeout of the statements of a transaction, and of waiting for a lock or a connection.
    patience: Duration,
    losses: Arc<Losses>,
    listening: listen::Listening,
    hints: listen::Hints,
}

/// The time of the last lost connection. The store tests connections that were opened earlier before it uses them.
#[derive(Debug, Default)]
struct Losses(Mutex<Option<Instant>>);

impl Losses {
    fn mark(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(env::monotonic());
    }

    /// Returns whether a connection of this age may have been lost together with a different connection.
    fn is_doubtful(&self, age: Duration) -> bool {
        let lost = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lost.is_some_and(|lost| env::elapsed(lost) <= age)
    }
}

impl PostgresStore {
    fn contents(&self) -> &Contents {
        &self.1
    }

    fn is_named(&self) -> bool {
        self.0.is_named
    }

    fn patience(&self) -> Duration {
        self.0.patience
    }

    /// Returns the time to compare deadlines with, as a parameter of [`NOW`]: null if the database's clock decides.
    fn given_now(&self, now: Timestamp) -> Option<i64> {
        (!self.0.is_database_clock).then_some(now.as_millis())
    }
}

/// The SQL before and after the parameter [`PostgresStore::given_now`]. The complete expression is the time that deadlines are compared with.
const NOW: (&str, &str) = (
    "coalesce(",
    "::bigint, (extract(epoch FROM clock_timestamp()) * 1000)::bigint)",
);

/// The error type inside this module.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The database refused a statement, or the connection failed.
    Failed(sqlx::Error),
    /// The error for the caller, for example because a row forbids the change, is missing, or cannot be read.
    Refused(StoreError),
}

impl From<sqlx::Error> for Fault {
    fn from(error: sqlx::Error) -> Self {
        Self::Failed(error)
    }
}

impl From<Fault> for StoreError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Failed(error) => failure::store_error(error),
            Fault::Refused(error) => error,
        }
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Self::Refused(error)
    }
}

/// Boxes a method's body as the future that its trait requires.
fn step<'a, T: 'a>(body: impl Future<Output = Result<T, Fault>> + Send + 'a) -> StoreFuture<'a, T> {
    Box::pin(async move { body.await.map_err(StoreError::from) })
}

/// Returns the number of an advisory lock, from the hexadecimal digits of a hash.
fn lock_number(hash: &str) -> i64 {
    let digits = hash.get(..16).unwrap_or_default();
    u64::from_str_radix(digits, 16)
        .unwrap_or_default()
        .cast_signed()
}

/// Returns a number as PostgreSQL stores it; `i64::MAX` for a larger number.
fn stored(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Narrows a query that ends in a condition to the rows of a scope.
fn narrow_to_scope(query: &mut QueryBuilder<Postgres>, scope: Scope<'_>) {
    narrow(query, "workspace", scope.workspace().map(Workspace::as_str));
}

/// A column by which a list is ordered.
#[derive(Clone, Copy)]
struct Column<'a> {
    name: &'a str,
    /// The value of the column in all rows that the query returns. A column with a fixed value is not part of the order: PostgreSQL uses an
    /// index for a cursor only if the cursor does not compare a fixed column.
    fixed: Option<&'a str>,
}

impl<'a> Column<'a> {
    fn new(name: &'a str, fixed: Option<&'a str>) -> Self {
        Self { name, fixed }
    }
}

/// A value of a cursor.
#[derive(Clone, Copy)]
enum Value<'a> {
    Number(i64),
    Text(&'a str),
}

/// Orders a query that ends in a condition, and limits it to one page: the rows after the last row of the previous page.
fn page(
    query: &mut QueryBuilder<Postgres>,
    columns: &[Column<'_>],
    newest_first: bool,
    after: Option<&[Value<'_>]>,
    limit: Option<u32>,
) {
    if let Some(values) = after {
        let mut is_strict = true;
        let mut compared = Vec::new();
        for (column, value) in columns.iter().zip(values) {
            let (Some(fixed), Value::Text(text)) = (column.fixed, value) else {
                compared.push((column.name, *value));
                continue;
            };
            // The cursor has a different value in a fixed column. All rows with equal values in the preceding columns are on one side of the cursor.
            if fixed != *text {
                is_strict = (fixed > *text) == newest_first;
                break;
            }
        }
        let compare = match (newest_first, is_strict) {
            (true, true) => "<",
            (true, false) => "<=",
            (false, true) => ">",
            (false, false) => ">=",
        };
        let names: Vec<&str> = compared.iter().map(|(name, _)| *name).collect();
        // PostgreSQL can use an index for a row comparison.
        query.push(format_args!(" AND ({}) {compare} (", names.join(", ")));
        let mut list = query.separated(", ");
        for (_, value) in compared {
            match value {
                Value::Number(number) => list.push_bind(number),
                Value::Text(text) => list.push_bind(text.to_owned()),
            };
        }
        query.push(")");
    }
    let order = if newest_first { " DESC" } else { "" };
    let columns = columns.iter().filter(|column| column.fixed.is_none());
    let columns: Vec<String> = columns
        .map(|column| format!("{}{order}", column.name))
        .collect();
    query.push(format_args!(" ORDER BY {}", columns.join(", ")));
    if let Some(limit) = limit {
        query.push(" LIMIT ").push_bind(i64::from(limit));
    }
}

/// Applies [`page`] to rows with the key of a call, ordered by a time, the workspace and the key.
fn page_by_key(
    query: &mut QueryBuilder<Postgres>,
    time: &str,
    scope: Scope<'_>,
    newest_first: bool,
    after: Option<&(Timestamp, CallKey)>,
    limit: Option<u32>,
) {
    let columns = [
        Column::new(time, None),
        Column::new("workspace", scope.workspace().map(Workspace::as_str)),
        Column::new("key", None),
    ];
    let after = after.map(|(at, key)| {
        [
            Value::Number(at.as_millis()),
            Value::Text(key.workspace().as_str()),
            Value::Text(key.as_str()),
        ]
    });
    let after = after.as_ref().map(<[_; 3]>::as_slice);
    page(query, &columns, newest_first, after, limit);
}

/// Narrows a query that ends in a condition to rows whose column equals `wanted`. `None` does not narrow it.
fn narrow(query: &mut QueryBuilder<Postgres>, column: &str, wanted: Option<&str>) {
    if let Some(wanted) = wanted {
        query.push(format_args!(" AND {column} = "));
        query.push_bind(wanted.to_owned());
    }
}
