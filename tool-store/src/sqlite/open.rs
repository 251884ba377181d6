//! Opening a database and bringing it to this program's tables.

use std::path::Path;
use std::str::FromStr;
use std::time::{Duration, Instant};

use sqlx::migrate::{MigrateError, Migration, MigrationType, Migrator};
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};
use sqlx::{ConnectOptions, SqlSafeStr};

use super::SqliteStore;

/// How long a writer waits for another process to let go of the file.
const PATIENCE: Duration = Duration::from_secs(30);

/// Readers of one process at once; more wait.
const READERS: u32 = 4;

/// Why a database could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// There is no such folder, no right to it, or no SQLite database in the file.
    #[error(
        "`{location}` cannot be opened as a SQLite database, give a file in a folder that exists and may be written: {cause}"
    )]
    Unopenable {
        /// What was to be opened.
        location: String,
        /// What SQLite says.
        cause: sqlx::Error,
    },
    /// The file was written by a later version of this crate.
    #[error(
        "`{location}` has migration {migration}, which this program does not know, run a program at least as new as the one that wrote it"
    )]
    Newer {
        /// What was to be opened.
        location: String,
        /// The number of the unknown migration.
        migration: i64,
    },
    /// The file's tables could not be brought to this program's.
    #[error("`{location}` cannot be migrated, restore it from a copy: {cause}")]
    Migration {
        /// What was to be opened.
        location: String,
        /// What went wrong.
        cause: MigrateError,
    },
}

impl SqliteStore {
    /// Opens a database file, which is made where it is missing, and brings its tables to this program's.
    ///
    /// Takes a path, or a URL such as `sqlite:state.db` or `sqlite:///var/lib/host/state.db`. `sqlite::memory:` and `mode=memory` are
    /// [`in_memory`](Self::in_memory). Many processes may open one file at once.
    pub async fn open(location: impl AsRef<Path>) -> Result<Self, OpenError> {
        let location = location.as_ref();
        let name = location.display().to_string();
        let url = location.to_str().filter(|text| text.starts_with("sqlite:"));
        if url.is_some_and(|url| url.contains(":memory:") || url.contains("mode=memory")) {
            return Self::in_memory().await;
        }
        let options = match url {
            Some(url) => SqliteConnectOptions::from_str(url),
            None => Ok(SqliteConnectOptions::new().filename(location)),
        };
        let options = options.map_err(|cause| unopenable(&name, cause))?;
        let options = common(options).create_if_missing(true);

        let writer = first_connection(&options, &name).await?;
        let readers = SqlitePoolOptions::new()
            .max_connections(READERS)
            .test_before_acquire(false)
            .connect_lazy_with(options.pragma("query_only", "ON"));
        let durable = true;
        let store = Self {
            writer,
            readers,
            durable,
        };
        store.migrate(&name).await?;
        Ok(store)
    }

    /// A database that lives as long as the store and its clones, for tests.
    pub async fn in_memory() -> Result<Self, OpenError> {
        let name = "sqlite::memory:";
        let pool = SqlitePoolOptions::new()
            .max_connections(1)
            .idle_timeout(None)
            .max_lifetime(None)
            .test_before_acquire(false)
            .connect_with(common(SqliteConnectOptions::new().in_memory(true)))
            .await
            .map_err(|cause| unopenable(name, cause))?;
        let store = Self {
            writer: pool.clone(),
            readers: pool,
            durable: false,
        };
        store.migrate(name).await?;
        Ok(store)
    }

    /// Waits for what is under way, then closes the file for this store and its clones. Whatever is asked of them later fails.
    pub async fn close(self) {
        self.readers.close().await;
        self.writer.close().await;
    }

    /// Applies the migrations that the file lacks, under the write lock: of many processes one does it.
    async fn migrate(&self, location: &str) -> Result<(), OpenError> {
        let failed = |cause: MigrateError| match cause {
            MigrateError::VersionMissing(migration) => OpenError::Newer {
                location: location.to_owned(),
                migration,
            },
            MigrateError::Execute(cause) => unopenable(location, cause),
            cause => OpenError::Migration {
                location: location.to_owned(),
                cause,
            },
        };
        let begun = self.writer.begin_with("BEGIN IMMEDIATE").await;
        let mut change = begun.map_err(|cause| unopenable(location, cause))?;
        migrations()
            .run_direct(None, &mut *change, false)
            .await
            .map_err(failed)?;
        let committed = change.commit().await;
        committed.map_err(|cause| unopenable(location, cause))
    }
}

/// The files of `migrations/`, in order.
const MIGRATIONS: [(i64, &str, &str); 2] = [
    (1, "state", include_str!("../../migrations/0001_state.sql")),
    (
        2,
        "catalogue",
        include_str!("../../migrations/0002_catalogue.sql"),
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
    Migrator::with_migrations(all.collect())
}

/// What every connection has.
fn common(options: SqliteConnectOptions) -> SqliteConnectOptions {
    options
        .busy_timeout(PATIENCE)
        .foreign_keys(true)
        .synchronous(SqliteSynchronous::Full)
        .pragma("secure_delete", "ON")
        .disable_statement_logging()
}

/// The writer's connection, which puts the file into its journal mode. That takes an exclusive lock for which SQLite does not wait
/// (<https://www.sqlite.org/wal.html#busy>), so that of two processes which make a file at once one has to try again.
async fn first_connection(
    options: &SqliteConnectOptions,
    location: &str,
) -> Result<SqlitePool, OpenError> {
    let start = Instant::now();
    loop {
        let opened = SqlitePoolOptions::new()
            .max_connections(1)
            .acquire_timeout(2 * PATIENCE)
            .test_before_acquire(false)
            .connect_with(options.clone().journal_mode(SqliteJournalMode::Wal))
            .await;
        match opened {
            Err(error) if is_busy(&error) && start.elapsed() < PATIENCE => {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            opened => return opened.map_err(|cause| unopenable(location, cause)),
        }
    }
}

/// `SQLITE_BUSY` and its extended codes.
fn is_busy(error: &sqlx::Error) -> bool {
    let code = error
        .as_database_error()
        .and_then(sqlx::error::DatabaseError::code);
    let code = code.and_then(|code| code.parse::<u32>().ok());
    code.is_some_and(|code| code & 0xff == 5)
}

fn unopenable(location: &str, cause: sqlx::Error) -> OpenError {
    OpenError::Unopenable {
        location: location.to_owned(),
        cause,
    }
}
