//! Options, connections and table migrations of a store.

use std::fmt;
use std::str::FromStr as _;
use std::sync::Arc;
use std::time::Duration;

use sqlx::migrate::{MigrateError, Migration, MigrationType, Migrator};
use sqlx::postgres::{PgConnectOptions, PgConnection, PgPoolOptions};
use sqlx::{ConnectOptions as _, Connection as _, Executor as _, SqlSafeStr as _};
use tokio::time::timeout;

use crate::sql::contents::Contents;

use super::change::too_slow;
use super::listen::{Hints, Listening};
use super::{Fault, Inner, Losses, PostgresStore};

/// Default timeout of the statements of a transaction, of the wait for a lock, and of the wait for a free connection.
const PATIENCE: Duration = Duration::from_secs(30);

/// Default maximum number of connections of a process.
const CONNECTIONS: u32 = 10;

/// The statement that takes the advisory lock of the migration until the transaction ends.
const MIGRATION_LOCK: &str =
    "SELECT pg_advisory_xact_lock(hashtextextended('tool_store.migration', 0))";

/// The error of opening a store on PostgreSQL. Its text does not contain the password.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// A URL cannot be read.
    #[error(
        "the URL of the database cannot be read, write it as `postgres://user:password@host:5432/database`: {0}"
    )]
    Url(sqlx::Error),
    /// The database cannot be used. For example, the server does not respond or refuses the user, or the tables are missing, because the URL of
    /// [`PostgresOptions::migrator`] leads to a different database.
    #[error(
        "PostgreSQL at `{location}` cannot be used, check that the server runs, and the user and the database of the URL: {cause}"
    )]
    Unusable {
        /// The server and the database.
        location: String,
        /// The error of the connection.
        cause: sqlx::Error,
    },
    /// The tables were created by a later version of this crate.
    #[error(
        "the database `{location}` has migration {migration}, which this program does not know, run the version of the program that migrated it, or a later version"
    )]
    Newer {
        /// The server and the database.
        location: String,
        /// The number of the unknown migration.
        migration: i64,
    },
    /// The migration of the tables failed.
    #[error(
        "the schema `tool_store` of `{location}` cannot be migrated, check that the user may create a schema and tables: {cause}"
    )]
    Migration {
        /// The server and the database.
        location: String,
        /// The error of the migration.
        cause: MigrateError,
    },
}

/// The clock that decides whether a lease or a deadline has expired.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum PostgresClock {
    /// The database's clock (default), which is the same for all hosts.
    #[default]
    Database,
    /// The times that the caller passes, for tests that inject a clock. The clocks of all hosts must then agree.
    Caller,
}

/// Options for opening a [`PostgresStore`].
#[derive(Clone)]
pub struct PostgresOptions {
    pool: PgConnectOptions,
    migrator: Option<PgConnectOptions>,
    listener: Option<PgConnectOptions>,
    connections: u32,
    clock: PostgresClock,
    is_unprepared: bool,
    patience: Duration,
}

impl PostgresOptions {
    /// Creates options with the URL of the database. It may be the URL of a pooler in transaction mode. Environment variables such as `PGHOST` and
    /// `PGPASSWORD` replace missing parts.
    pub fn new(url: &str) -> Result<Self, ConnectError> {
        Ok(Self {
            pool: parse(url)?,
            migrator: None,
            listener: None,
            connections: CONNECTIONS,
            clock: PostgresClock::default(),
            is_unprepared: false,
            patience: PATIENCE,
        })
    }

    /// Sets the URL for migrating the tables and for [`index_memories`](PostgresStore::index_memories), for a user with more privileges, or to bypass
    /// a pooler. By default, it is the URL of [`new`](Self::new).
    pub fn migrator(mut self, url: &str) -> Result<Self, ConnectError> {
        self.migrator = Some(parse(url)?);
        Ok(self)
    }

    /// Sets the URL of the connection that waits for notifications. It must lead to the server itself, because a pooler in transaction mode does not
    /// forward notifications. By default, it is the URL of [`new`](Self::new). With [`unprepared`](Self::unprepared) and without this URL, the store opens no
    /// such connection, and detects changes of other processes only by polling.
    pub fn listener(mut self, url: &str) -> Result<Self, ConnectError> {
        self.listener = Some(parse(url)?);
        Ok(self)
    }

    /// Sets the maximum number of connections of this process; 10 by default. Connections for notifications,
    /// migrations and indexes are not included.
    #[must_use]
    pub fn connections(mut self, connections: u32) -> Self {
        self.connections = connections.max(1);
        self
    }

    /// Sets the clock that decides about leases and deadlines.
    #[must_use]
    pub fn clock(mut self, clock: PostgresClock) -> Self {
        self.clock = clock;
        self
    }

    /// Disables named prepared statements if true; false by default. Set it for a pooler in transaction mode that does not support them, such as PgBouncer
    /// before version 1.21. Each statement then costs one more round trip, and each read is a transaction. The [`migrator`](Self::migrator) needs a URL that
    /// leads to the server itself.
    #[must_use]
    pub fn unprepared(mut self, is_unprepared: bool) -> Self {
        self.is_unprepared = is_unprepared;
        self
    }

    /// Sets the timeout of the statements of a transaction, of the wait for a lock, and of the wait for a free connection; 30 seconds by default.
    /// Statements that exceed the timeout are retried up to three times on a new connection. If they fail again, and after the other timeouts, the
    /// error is [`StoreError::Unavailable`](crate::StoreError::Unavailable), and the change is not made, except for an
    /// [`UnknownOutcome`](crate::UnknownOutcome).
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Migrates the tables and opens the store.
    pub async fn open(self) -> Result<PostgresStore, ConnectError> {
        let name = location(&self.pool);
        let unusable = |cause| ConnectError::Unusable {
            location: name.clone(),
            cause,
        };
        let migrator = self.migrator.unwrap_or_else(|| self.pool.clone());
        migrate(&migrator, self.patience).await?;

        let losses = Arc::new(Losses::default());
        let marked = Arc::clone(&losses);
        let pool = PgPoolOptions::new()
            .max_connections(self.connections)
            .acquire_timeout(self.patience)
            .test_before_acquire(false)
            .before_acquire(move |connection, meta| {
                let is_doubtful = marked.is_doubtful(meta.age);
                Box::pin(async move {
                    if !is_doubtful {
                        return Ok(true);
                    }
                    let answer = timeout(Duration::from_secs(2), connection.ping()).await;
                    Ok(matches!(answer, Ok(Ok(()))))
                })
            })
            .connect_lazy_with(self.pool.clone());
        // Without a separate URL, a listener behind a pooler would never get a notification.
        let listener = match self.listener {
            None if self.is_unprepared => None,
            None => Some(self.pool),
            own => own,
        };
        let inner = Arc::new_cyclic(|store| Inner {
            listening: Listening::start(listener, store.clone()),
            pool,
            migrator,
            is_database_clock: self.clock == PostgresClock::Database,
            is_named: !self.is_unprepared,
            patience: self.patience,
            losses,
            hints: Hints::default(),
        });
        let store = PostgresStore(inner, Contents::default());
        // This fails if the migrator's URL leads to a different database, so that the tables are missing here.
        let mut connection = store.connection().await.map_err(unusable)?;
        connection
            .execute("SELECT FROM tool_store.generation LIMIT 1")
            .await
            .map_err(unusable)?;
        connection.give_back();
        drop(connection);
        let prepared = async {
            store.add_codes().await?;
            store.log_indexes().await
        };
        prepared.await.map_err(|cause| match cause {
            Fault::Failed(cause) => unusable(cause),
            Fault::Refused(cause) => unusable(sqlx::Error::Protocol(cause.to_string())),
        })?;
        Ok(store)
    }
}

impl PostgresStore {
    /// Opens the store at a URL such as `postgres://user:password@host:5432/database`, and migrates its tables. For more options, use [`PostgresOptions`].
    pub async fn open(url: &str) -> Result<Self, ConnectError> {
        PostgresOptions::new(url)?.open().await
    }

    /// Waits for running changes, then closes the connections of this store and its clones. All later calls fail.
    pub async fn close(self) {
        self.0.listening.end();
        self.0.pool.close().await;
    }
}

/// Omits the passwords of the URLs.
impl fmt::Debug for PostgresOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let other = |options: &Option<PgConnectOptions>| options.as_ref().map(location);
        f.debug_struct("PostgresOptions")
            .field("pool", &location(&self.pool))
            .field("migrator", &other(&self.migrator))
            .field("listener", &other(&self.listener))
            .field("connections", &self.connections)
            .field("clock", &self.clock)
            .field("unprepared", &self.is_unprepared)
            .field("patience", &self.patience)
            .finish()
    }
}

fn parse(url: &str) -> Result<PgConnectOptions, ConnectError> {
    let options = PgConnectOptions::from_str(url).map_err(ConnectError::Url)?;
    // The parameter applies only to floating-point numbers, which no column contains, and a pooler may refuse it.
    Ok(options.disable_statement_logging().extra_float_digits(None))
}

/// Returns the server and the database, for error texts.
fn location(options: &PgConnectOptions) -> String {
    let host = options.get_socket().map_or_else(
        || options.get_host().to_owned(),
        |socket| socket.display().to_string(),
    );
    let database = options.get_database().unwrap_or(options.get_username());
    format!("{host}:{}/{database}", options.get_port())
}

/// Applies the missing migrations in one transaction. Its advisory lock lets only one process migrate at a time. The lock ends with the
/// transaction, so it works through a pooler.
async fn migrate(options: &PgConnectOptions, patience: Duration) -> Result<(), ConnectError> {
    let location = location(options);
    let unusable = |cause| ConnectError::Unusable {
        location: location.clone(),
        cause,
    };
    let failed = |cause: MigrateError| match cause {
        MigrateError::VersionMissing(migration) => ConnectError::Newer {
            location: location.clone(),
            migration,
        },
        cause => ConnectError::Migration {
            location: location.clone(),
            cause,
        },
    };
    let connected = timeout(patience, options.connect()).await;
    let connected = connected.unwrap_or_else(|_| Err(too_slow(patience)));
    let mut connection = connected.map_err(unusable)?;
    let mut change = connection.begin().await.map_err(unusable)?;
    change.execute(MIGRATION_LOCK).await.map_err(unusable)?;
    create_schema(&mut change)
        .await
        .map_err(|cause| failed(MigrateError::Execute(cause)))?;
    migrations()
        .run_direct(None, &mut *change, false)
        .await
        .map_err(failed)?;
    change.commit().await.map_err(unusable)?;
    // An error is ignored: the connection is closed in any case.
    let _ = connection.close().await;
    Ok(())
}

/// Creates the schema. `IF NOT EXISTS` would require the privilege to create a schema even if the schema exists.
async fn create_schema(connection: &mut PgConnection) -> Result<(), sqlx::Error> {
    let exists: bool = sqlx::query_scalar("SELECT to_regnamespace('tool_store') IS NOT NULL")
        .fetch_one(&mut *connection)
        .await?;
    if !exists {
        connection.execute("CREATE SCHEMA tool_store").await?;
    }
    Ok(())
}

/// The files of `migrations/postgres`, in order.
const MIGRATIONS: [(i64, &str, &str); 10] = [
    (
        1,
        "state",
        include_str!("../../migrations/postgres/0001_state.sql"),
    ),
    (
        2,
        "memory",
        include_str!("../../migrations/postgres/0002_memory.sql"),
    ),
    (
        3,
        "knowledge",
        include_str!("../../migrations/postgres/0003_knowledge.sql"),
    ),
    (
        4,
        "plans",
        include_str!("../../migrations/postgres/0004_plans.sql"),
    ),
    (
        5,
        "schedules",
        include_str!("../../migrations/postgres/0005_schedules.sql"),
    ),
    (
        6,
        "rooms",
        include_str!("../../migrations/postgres/0006_rooms.sql"),
    ),
    (
        7,
        "shared_limits",
        include_str!("../../migrations/postgres/0007_shared_limits.sql"),
    ),
    (
        8,
        "memory_codes",
        include_str!("../../migrations/postgres/0008_memory_codes.sql"),
    ),
    (
        9,
        "knowledge_vectors",
        include_str!("../../migrations/postgres/0009_knowledge_vectors.sql"),
    ),
    (
        10,
        "task_runs",
        include_str!("../../migrations/postgres/0010_task_runs.sql"),
    ),
];

fn migrations() -> Migrator {
    let all = MIGRATIONS.into_iter().map(|(number, name, text)| {
        Migration::new(
            number,
            name.into(),
            MigrationType::Simple,
            text.into_sql_str(),
            false,
        )
    });
    let mut migrator = Migrator::with_migrations(all.collect());
    // The host may have its own migrations in the database, so the table has a different name. sqlx's own lock is disabled, because it belongs to a
    // session, and a pooler may change the session between statements.
    migrator.dangerous_set_table_name("tool_store.migration");
    migrator.set_locking(false);
    migrator
}
