//! Opening and migration of a database file.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use crate::env;
use crate::sql::contents::Contents;
use crate::store::StoreError;
use sqlx::migrate::{MigrateError, Migration, MigrationType, Migrator};
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqliteOwnedBuf, SqlitePoolOptions,
    SqliteSynchronous,
};
use sqlx::{ConnectOptions, Connection, Executor as _, SqlSafeStr};

use super::failure::{Failure, is_busy};
use super::watch::Watch;
use super::writer::Writer;
use super::{Fault, SqliteStore};

/// Timeout of a writer that waits for a different process to release the lock.
const PATIENCE: Duration = Duration::from_secs(30);

/// Maximum number of concurrent readers of an opened store and its clones. Further readers wait.
const READERS: u32 = 4;

/// The error of opening a database.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// SQLite cannot use the database: for example, the folder does not exist, permission is missing, the file is not a SQLite database, or a
    /// statement of a migration fails.
    #[error(
        "`{location}` cannot be opened as a SQLite database, give a file in a folder that exists and may be written: {cause}"
    )]
    Unopenable {
        /// The path or URL that was to be opened.
        location: String,
        /// The error of SQLite.
        cause: sqlx::Error,
    },
    /// The file has a migration that this program does not know, for example because a later version of this crate has opened the file.
    #[error(
        "`{location}` has migration {migration}, which this program does not know, run the version of the program that migrated it, or a later version"
    )]
    Newer {
        /// The path or URL that was to be opened.
        location: String,
        /// The number of the unknown migration.
        migration: i64,
    },
    /// The tables cannot be migrated, for example because an applied migration differs from the migration of this program.
    #[error("`{location}` cannot be migrated, restore it from a copy: {cause}")]
    Migration {
        /// The path or URL that was to be opened.
        location: String,
        /// The error of the migration.
        cause: MigrateError,
    },
}

impl SqliteStore {
    /// Opens a database file, creates it if it is missing, and migrates its tables to the schema of this version.
    ///
    /// Takes a path, or a URL such as `sqlite:state.db` or `sqlite:///var/lib/host/state.db`. `sqlite::memory:` and `mode=memory` open
    /// a database [`in_memory`](Self::in_memory). Many processes may open one file at once.
    pub async fn open(location: impl AsRef<Path>) -> Result<Self, OpenError> {
        Self::open_with(location.as_ref(), PATIENCE).await
    }

    /// Opens a file. `patience` is the timeout of writers that wait for a different process.
    pub(super) async fn open_with(location: &Path, patience: Duration) -> Result<Self, OpenError> {
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
        let options = common(options).busy_timeout(patience);

        let mut connection = first_connection(&options, &name, patience).await?;
        migrate(&mut connection, &name).await?;
        let path = path(&mut connection).await;
        let path = path.map_err(|cause| unopenable(&name, cause))?;
        // From here on, a missing file is a fault. If a new, empty file were created, all stored rows would silently be lost.
        let options = options.filename(&path).create_if_missing(false);
        let watch = Arc::new(Watch::new(path));
        let watched = Arc::clone(&watch);
        let readers = SqlitePoolOptions::new()
            .max_connections(READERS)
            .test_before_acquire(false)
            .before_acquire(move |_, connection| {
                let is_stale = watched.is_stale(connection.age);
                Box::pin(async move { Ok(!is_stale) })
            })
            .connect_lazy_with(options.clone().pragma("query_only", "ON"));
        Ok(Self {
            writer: Writer::file(connection, options, watch, readers.clone(), 2 * patience),
            readers,
            durable: true,
            contents: Contents::default(),
        })
    }

    /// Opens a database in memory, for tests. It is removed with the last clone of the store, and its size may be limited to 1 GiB.
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
        let connection = pool.acquire().await;
        let mut connection = connection.map_err(|cause| unopenable(name, cause))?;
        migrate_in_memory(&mut connection, name).await?;
        Ok(Self {
            writer: Writer::memory(pool.clone(), 2 * PATIENCE),
            readers: pool,
            durable: false,
            contents: Contents::default(),
        })
    }

    /// Waits for running calls, then closes the database for this store and its clones. All later calls fail.
    pub async fn close(self) {
        self.readers.close().await;
        self.writer.close().await;
    }
}

/// The image of an empty database with all migrations.
static MIGRATED: OnceLock<Box<[u8]>> = OnceLock::new();

/// Fills a new database in memory with the tables of this version. The first call in a process applies the migrations, and later calls copy its
/// result, because applying the migrations takes 50 ms, and the tests of a host open thousands of databases.
async fn migrate_in_memory(
    connection: &mut SqliteConnection,
    location: &str,
) -> Result<(), OpenError> {
    let failed = |cause| unopenable(location, cause);
    let Some(image) = MIGRATED.get() else {
        migrate(connection, location).await?;
        let image = connection.serialize(None).await.map_err(failed)?;
        // Another task may have set the image in the meantime.
        let _ = MIGRATED.set(Box::from(&*image));
        return Ok(());
    };
    let image = SqliteOwnedBuf::try_from(&**image).map_err(failed)?;
    let copied = connection.deserialize(None, image, false).await;
    copied.map_err(failed)?;
    // SQLite connects the copy as a new database, to which the settings of the earlier one do not apply.
    let set = connection.execute("PRAGMA secure_delete = ON").await;
    set.map(drop).map_err(failed)
}

/// Applies the missing migrations under the write lock, so that only one process migrates at a time. sqlx's migrator does not lock SQLite
/// databases.
async fn migrate(connection: &mut SqliteConnection, location: &str) -> Result<(), OpenError> {
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
    let begun = connection.begin_with("BEGIN IMMEDIATE").await;
    let mut change = begun.map_err(|cause| unopenable(location, cause))?;
    migrations()
        .run_direct(None, &mut *change, false)
        .await
        .map_err(failed)?;
    // On a read-only database, `BEGIN IMMEDIATE` takes only a read lock and succeeds; the first write fails.
    let write = "UPDATE _sqlx_migrations SET success = success WHERE FALSE";
    let written = change.execute(write).await;
    written.map_err(|cause| unopenable(location, cause))?;
    let filled = super::approval::fill_keys(&mut change).await;
    filled.map_err(|cause| unopenable(location, cause))?;
    let packed = super::long_term::pack_all(&mut change).await;
    packed.map_err(|cause| unopenable(location, cause))?;
    let committed = change.commit().await;
    committed.map_err(|cause| unopenable(location, cause))
}

/// Returns the path of the file as SQLite resolved it, independent of the URL and the current folder.
async fn path(connection: &mut SqliteConnection) -> Result<PathBuf, sqlx::Error> {
    let path: String =
        sqlx::query_scalar("SELECT file FROM pragma_database_list WHERE name = 'main'")
            .fetch_one(connection)
            .await?;
    if path.is_empty() {
        return Err(sqlx::Error::Configuration("it does not name a file".into()));
    }
    Ok(path.into())
}

/// Opens the file again and checks that it has the migrations of this version.
pub(super) async fn connect(
    options: &SqliteConnectOptions,
    watch: &Watch,
) -> Result<SqliteConnection, Fault> {
    let path = watch.path().display();
    let unavailable = |cause: sqlx::Error| {
        let cause = Failure::from(cause);
        let text = format!("the database `{path}` cannot be opened again, {cause}");
        StoreError::Unavailable(text.into())
    };
    let mut connection = options.connect().await.map_err(unavailable)?;
    // The first read also creates the files of the write-ahead log.
    let applied: Vec<i64> =
        sqlx::query_scalar("SELECT version FROM _sqlx_migrations ORDER BY version")
            .fetch_all(&mut connection)
            .await
            .map_err(unavailable)?;
    if applied != MIGRATIONS.map(|(number, ..)| number) {
        let text = format!(
            "the database `{path}` was replaced by a database whose migrations differ from those of this program, restore the file or restart the program"
        );
        return Err(StoreError::Unavailable(text.into()).into());
    }
    Ok(connection)
}

/// The files of `migrations/sqlite`, in order.
const MIGRATIONS: [(i64, &str, &str); 27] = [
    (
        1,
        "state",
        include_str!("../../migrations/sqlite/0001_state.sql"),
    ),
    (
        2,
        "catalogue",
        include_str!("../../migrations/sqlite/0002_catalogue.sql"),
    ),
    (
        3,
        "audit_indexes",
        include_str!("../../migrations/sqlite/0003_audit_indexes.sql"),
    ),
    (
        4,
        "identity",
        include_str!("../../migrations/sqlite/0004_identity.sql"),
    ),
    (
        5,
        "runs",
        include_str!("../../migrations/sqlite/0005_runs.sql"),
    ),
    (
        6,
        "switches",
        include_str!("../../migrations/sqlite/0006_switches.sql"),
    ),
    (
        7,
        "paging",
        include_str!("../../migrations/sqlite/0007_paging.sql"),
    ),
    (
        8,
        "enablement",
        include_str!("../../migrations/sqlite/0008_enablement.sql"),
    ),
    (
        9,
        "secrets",
        include_str!("../../migrations/sqlite/0009_secrets.sql"),
    ),
    (
        10,
        "requests",
        include_str!("../../migrations/sqlite/0010_requests.sql"),
    ),
    (
        11,
        "stored_tools",
        include_str!("../../migrations/sqlite/0011_stored_tools.sql"),
    ),
    (
        12,
        "events",
        include_str!("../../migrations/sqlite/0012_events.sql"),
    ),
    (
        13,
        "sealed_contents",
        include_str!("../../migrations/sqlite/0013_sealed_contents.sql"),
    ),
    (
        14,
        "child_threads",
        include_str!("../../migrations/sqlite/0014_child_threads.sql"),
    ),
    (
        15,
        "work",
        include_str!("../../migrations/sqlite/0015_work.sql"),
    ),
    (
        16,
        "usage",
        include_str!("../../migrations/sqlite/0016_usage.sql"),
    ),
    (
        17,
        "thread_events",
        include_str!("../../migrations/sqlite/0017_thread_events.sql"),
    ),
    (
        18,
        "budgets",
        include_str!("../../migrations/sqlite/0018_budgets.sql"),
    ),
    (
        19,
        "memory",
        include_str!("../../migrations/sqlite/0019_memory.sql"),
    ),
    (
        20,
        "knowledge",
        include_str!("../../migrations/sqlite/0020_knowledge.sql"),
    ),
    (
        21,
        "plans",
        include_str!("../../migrations/sqlite/0021_plans.sql"),
    ),
    (
        22,
        "schedules",
        include_str!("../../migrations/sqlite/0022_schedules.sql"),
    ),
    (
        23,
        "rooms",
        include_str!("../../migrations/sqlite/0023_rooms.sql"),
    ),
    (
        24,
        "shared_limits",
        include_str!("../../migrations/sqlite/0024_shared_limits.sql"),
    ),
    (
        25,
        "memory_codes",
        include_str!("../../migrations/sqlite/0025_memory_codes.sql"),
    ),
    (
        26,
        "knowledge_vectors",
        include_str!("../../migrations/sqlite/0026_knowledge_vectors.sql"),
    ),
    (
        27,
        "task_runs",
        include_str!("../../migrations/sqlite/0027_task_runs.sql"),
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

/// Returns the options that all connections share.
fn common(options: SqliteConnectOptions) -> SqliteConnectOptions {
    options
        .busy_timeout(PATIENCE)
        .foreign_keys(true)
        .synchronous(SqliteSynchronous::Full)
        .pragma("secure_delete", "ON")
        .disable_statement_logging()
}

/// Opens the first connection. It creates the file if it is missing and sets the journal mode. Setting the mode takes an exclusive lock for which
/// SQLite does not wait (<https://www.sqlite.org/wal.html#busy>), so if two processes create a file at the same time, one of
/// them must retry.
async fn first_connection(
    options: &SqliteConnectOptions,
    location: &str,
    patience: Duration,
) -> Result<SqliteConnection, OpenError> {
    let start = env::monotonic();
    let options = options.clone().create_if_missing(true);
    let options = options.journal_mode(SqliteJournalMode::Wal);
    loop {
        match options.connect().await {
            Err(error) if is_busy(&error) && env::elapsed(start) < patience => {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            opened => return opened.map_err(|cause| unopenable(location, cause)),
        }
    }
}

fn unopenable(location: &str, cause: sqlx::Error) -> OpenError {
    OpenError::Unopenable {
        location: location.to_owned(),
        cause,
    }
}
