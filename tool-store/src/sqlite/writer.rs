//! The writing connection: who may use it next, its transactions, and its replacement after a fault.
//!
//! `BEGIN`, `COMMIT` and `ROLLBACK` are plain statements here. sqlx counts the depth of its own transactions and keeps the count when
//! `ROLLBACK` fails, which it does after every error that made SQLite roll back by itself (a full disk, an I/O error, no memory:
//! <https://www.sqlite.org/lang_transaction.html#response_to_errors_within_a_transaction>). From then on that connection refuses to
//! begin a transaction.

use std::future::Future as _;
use std::ops::{Deref, DerefMut};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Waker};
use std::time::Duration;

use sqlx::pool::PoolConnection;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqlitePool};
use sqlx::{Connection as _, Executor as _, Sqlite};
use tokio::sync::{Mutex, OwnedMappedMutexGuard, OwnedMutexGuard};
use tokio::time::timeout;
use tool_core::store::StoreError;

use super::Fault;
use super::failure::is_busy;
use super::open::connect;
use super::watch::{Files, Watch};

/// The right to write: changes of one process run one after the other.
#[derive(Clone, Debug)]
pub(super) struct Writer(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    database: Database,
    /// What begins work waits here. One at a time goes on to `state`, whose lock is fair: a change that ends work waits for the
    /// running change, at most one that begins work, and those that end work and came before it.
    line: Mutex<()>,
    state: Arc<Mutex<State>>,
    /// Whether a transaction may have begun that was not committed.
    dirty: AtomicBool,
    /// How long a change waits for its turn.
    patience: Duration,
}

/// Where the connection comes from.
#[derive(Debug)]
enum Database {
    File {
        options: Box<SqliteConnectOptions>,
        watch: Arc<Watch>,
        readers: SqlitePool,
    },
    /// The only connection, which readers share. To close it is to lose what is stored.
    Memory(SqlitePool),
}

/// The connection to a file, and which files it has open.
#[derive(Debug, Default)]
struct State {
    connection: Option<SqliteConnection>,
    files: Option<Files>,
    closed: bool,
}

/// Which changes go first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// In order of arrival.
    Ordinary,
    /// Before all that wait for an ordinary turn. For changes that end work or keep it up: while they wait, leases run out.
    First,
}

impl Writer {
    /// Writes to a file through a connection that is open. The options open the connections that replace it.
    pub(super) fn file(
        connection: SqliteConnection,
        options: SqliteConnectOptions,
        watch: Arc<Watch>,
        readers: SqlitePool,
        patience: Duration,
    ) -> Self {
        let state = State {
            connection: Some(connection),
            files: watch.files().ok(),
            closed: false,
        };
        let options = Box::new(options);
        let database = Database::File {
            options,
            watch,
            readers,
        };
        Self::new(database, state, patience)
    }

    pub(super) fn memory(pool: SqlitePool, patience: Duration) -> Self {
        Self::new(Database::Memory(pool), State::default(), patience)
    }

    fn new(database: Database, state: State, patience: Duration) -> Self {
        Self(Arc::new(Inner {
            database,
            line: Mutex::new(()),
            state: Arc::new(Mutex::new(state)),
            dirty: AtomicBool::new(false),
            patience,
        }))
    }

    /// What all clones share.
    pub(super) fn shared(&self) -> &Arc<impl Sized + use<>> {
        &self.0
    }

    /// A transaction that holds the write lock; dropped, it is rolled back.
    pub(super) async fn begin(&self, turn: Turn) -> Result<Change, Fault> {
        let (connection, files) = self.hold(turn).await?;
        self.0.dirty.store(true, Ordering::Release);
        // Made before the statement is sent: to drop this future half way is to drop a change, which is rolled back.
        let mut change = Change {
            connection,
            files,
            writer: self.clone(),
            is_open: true,
        };
        let begun = change.execute("BEGIN IMMEDIATE").await;
        if begun.as_ref().is_err_and(is_busy) {
            // No transaction began, and the connection is sound.
            change.end();
        }
        begun?;
        Ok(change)
    }

    /// Runs one statement outside of a transaction.
    pub(super) async fn run(&self, statement: &'static str) -> Result<(), Fault> {
        let (mut connection, _) = self.hold(Turn::Ordinary).await?;
        connection.get().execute(statement).await?;
        Ok(())
    }

    /// Waits for the change that is under way, then closes the connection.
    pub(super) async fn close(&self) {
        let mut state = self.0.state.lock().await;
        state.closed = true;
        if let Some(connection) = state.connection.take() {
            // The connection is closed whether or not this fails.
            let _ = connection.close().await;
        }
        if let Database::Memory(pool) = &self.0.database {
            pool.close().await;
        }
    }

    /// Waits for the turn, and for a connection that works.
    async fn hold(&self, turn: Turn) -> Result<(Held, Option<Files>), Fault> {
        let Inner {
            database,
            line,
            state,
            patience,
            ..
        } = &*self.0;
        let wait = async {
            let _line = match turn {
                Turn::Ordinary => Some(line.lock().await),
                Turn::First => None,
            };
            Arc::clone(state).lock_owned().await
        };
        let mut state = timeout(*patience, wait)
            .await
            .map_err(|_| too_many(*patience))?;
        if state.closed {
            return Err(sqlx::Error::PoolClosed.into());
        }
        match database {
            Database::File {
                options,
                watch,
                readers,
            } => {
                self.ready(&mut state, options, watch, readers).await?;
                let files = state.files;
                let connection = OwnedMutexGuard::try_map(state, |state| state.connection.as_mut());
                let connection = connection.map_err(|_| sqlx::Error::PoolClosed)?;
                Ok((Held::File(connection), files))
            }
            Database::Memory(pool) => {
                let mut connection = pool.acquire().await?;
                if self.0.dirty.load(Ordering::Acquire) {
                    self.settle(&mut connection).await?;
                }
                let held = Held::Memory {
                    connection,
                    _turn: state,
                };
                Ok((held, None))
            }
        }
    }

    /// Replaces the connection to a file where it is missing, where its files were moved, or where the last change was not committed:
    /// nothing says whether a fault was the cause, and whether the fault has left the connection usable.
    async fn ready(
        &self,
        state: &mut State,
        options: &SqliteConnectOptions,
        watch: &Watch,
        readers: &SqlitePool,
    ) -> Result<(), Fault> {
        let in_place = state.files.is_some() && watch.files().ok() == state.files;
        if in_place && state.connection.is_some() && !self.0.dirty.load(Ordering::Acquire) {
            return Ok(());
        }
        if !in_place {
            // Connections of one process share what they know of the log, so that those to the files before have to go first. The last
            // one to close brings the content of its log into the database, even of a log that was removed.
            watch.renew();
            if let Some(connection) = state.connection.take() {
                let _ = connection.close().await;
            }
            while let Some(reader) = readers.try_acquire() {
                let _ = reader.close().await;
            }
        }
        match connect(options, watch).await {
            Ok(connection) => {
                state.files = watch.files().ok();
                self.0.dirty.store(false, Ordering::Release);
                // The old connection closes in its own thread, which may still wait for a lock that nobody wants any more.
                state.connection = Some(connection);
                Ok(())
            }
            Err(error) => {
                // A full disk may have no room for what another connection needs, while the old connection can go on.
                if in_place
                    && let Some(connection) = &mut state.connection
                    && self.settle(connection).await.is_ok()
                {
                    return Ok(());
                }
                state.connection = None;
                state.files = None;
                Err(error)
            }
        }
    }

    /// Makes sure that a connection is in no transaction and can begin one.
    async fn settle(&self, connection: &mut SqliteConnection) -> Result<(), Fault> {
        // Fails where there is none. There may be one of this very function, whose caller went away half way.
        let _ = connection.execute("ROLLBACK").await;
        connection.execute("BEGIN").await?;
        connection.execute("ROLLBACK").await?;
        self.0.dirty.store(false, Ordering::Release);
        Ok(())
    }
}

/// The connection of whoever has the turn.
enum Held {
    File(OwnedMappedMutexGuard<State, SqliteConnection>),
    Memory {
        connection: PoolConnection<Sqlite>,
        _turn: OwnedMutexGuard<State>,
    },
}

impl Held {
    fn get(&mut self) -> &mut SqliteConnection {
        match self {
            Self::File(connection) => connection,
            Self::Memory { connection, .. } => connection,
        }
    }
}

/// A transaction that holds the write lock; dropped, it is rolled back.
pub(super) struct Change {
    connection: Held,
    files: Option<Files>,
    writer: Writer,
    is_open: bool,
}

impl Change {
    /// Writes the transaction to the disk.
    pub(super) async fn commit(mut self) -> Result<(), StoreError> {
        if let Database::File { watch, .. } = &self.writer.0.database
            && watch.files().ok() != self.files
        {
            return Err(moved(watch));
        }
        self.execute("COMMIT").await.map_err(Fault::from)?;
        self.end();
        Ok(())
    }

    fn end(&mut self) {
        self.is_open = false;
        self.writer.0.dirty.store(false, Ordering::Release);
    }
}

impl Drop for Change {
    fn drop(&mut self) {
        if self.is_open {
            // The first poll sends the statement to the connection's own thread. So it needs no runtime, and other processes can write
            // at once. The next change replaces the connection, or looks whether this succeeded.
            let rollback = pin!(self.execute("ROLLBACK"));
            let _ = rollback.poll(&mut Context::from_waker(Waker::noop()));
        }
    }
}

impl Deref for Change {
    type Target = SqliteConnection;

    fn deref(&self) -> &SqliteConnection {
        match &self.connection {
            Held::File(connection) => connection,
            Held::Memory { connection, .. } => connection,
        }
    }
}

impl DerefMut for Change {
    fn deref_mut(&mut self) -> &mut SqliteConnection {
        self.connection.get()
    }
}

fn too_many(patience: Duration) -> StoreError {
    let text = format!(
        "the change waited {} s for its turn to write, send fewer calls at once",
        patience.as_secs()
    );
    StoreError::Unavailable(text.into())
}

fn moved(watch: &Watch) -> StoreError {
    let path = watch.path().display();
    let text = format!(
        "the files of the database `{path}` were removed or replaced during the change, which was rolled back; \
         stop the program before files are moved"
    );
    StoreError::Unavailable(text.into())
}
