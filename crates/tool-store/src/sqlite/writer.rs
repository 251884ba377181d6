//! The writing connection: transactions that changes share, and the replacement of the connection after a fault.
//!
//! `BEGIN`, `COMMIT` and `ROLLBACK` are plain statements here. sqlx counts the depth of its own transactions and keeps the count when
//! `ROLLBACK` fails. `ROLLBACK` fails after every error that made SQLite roll back by itself (a full disk, an I/O error, no memory:
//! <https://www.sqlite.org/lang_transaction.html#response_to_errors_within_a_transaction>). From then on, sqlx refuses to
//! begin a transaction on the connection.

use std::fmt;
use std::future::{Future as _, poll_fn};
use std::ops::{Deref, DerefMut};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use crate::store::StoreError;
use sqlx::pool::PoolConnection;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqlitePool};
use sqlx::{Connection as _, Executor as _, Sqlite};
use tokio::sync::{Mutex, OwnedMappedMutexGuard, OwnedMutexGuard};

use super::Fault;
use super::failure::{Failure, is_busy};
use super::open::connect;
use super::queue::{self, Answer, Group, Priority, Queue, QueuedChange, RunPermit, Scope, Step};
use super::watch::{Files, Watch};

/// Maximum number of changes in a transaction. The first change waits for the statements of all other changes.
const MOST: usize = 32;

/// Savepoint statements that separate the changes of one transaction.
const SAVEPOINT: &str = "SAVEPOINT one_change";
const RELEASE: &str = "RELEASE one_change";
const UNDO: &str = "ROLLBACK TO one_change; RELEASE one_change";

/// Handle on the writing connection. Changes of one process run one after the other, and waiting changes share a transaction.
#[derive(Clone)]
pub(super) struct Writer(Arc<Inner>);

pub(super) struct Inner {
    database: Database,
    pub(super) queue: Queue,
    state: Arc<Mutex<State>>,
    /// Whether a transaction may be open, or a change of the last transaction has failed because of a fault. The next change then checks or replaces
    /// the connection.
    dirty: AtomicBool,
    /// Timeout of a change that waits in the queue.
    pub(super) patience: Duration,
}

impl fmt::Debug for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer")
            .field("database", &self.0.database)
            .finish_non_exhaustive()
    }
}

/// The source of the connection.
#[derive(Debug)]
enum Database {
    File {
        options: Box<SqliteConnectOptions>,
        watch: Arc<Watch>,
        readers: SqlitePool,
    },
    /// The only connection, which readers share. Closing it deletes all stored rows.
    Memory(SqlitePool),
}

/// The connection to a file, and the identities of the files that it has open.
#[derive(Debug, Default)]
struct State {
    connection: Option<SqliteConnection>,
    files: Option<Files>,
    closed: bool,
}

impl Writer {
    /// Creates a writer for a file with an open connection. The writer opens replacement connections with `options`.
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
            queue: Queue::default(),
            state: Arc::new(Mutex::new(state)),
            dirty: AtomicBool::new(false),
            patience,
        }))
    }

    /// Returns the state that all clones share.
    pub(super) fn shared(&self) -> &Arc<impl Sized + use<>> {
        &self.0
    }

    /// Runs statements in a transaction that holds the write lock, and returns when it is on disk. After an error, nothing is stored.
    ///
    /// If the future is dropped before the statements have begun, nothing is written. If it is dropped later, all of them are written or rolled
    /// back.
    pub(super) async fn change<T: Send + 'static>(
        &self,
        turn: Priority,
        body: impl for<'c> FnOnce(&'c mut SqliteConnection) -> Step<'c, T> + Send + 'static,
    ) -> Result<T, Fault> {
        queue::wait(&self.0, turn, Scope::Shared, body).await
    }

    /// Runs one statement outside of a transaction.
    pub(super) async fn run(&self, statement: &'static str) -> Result<(), Fault> {
        let done = queue::wait(&self.0, Priority::Ordinary, Scope::Alone, move |db| {
            Box::pin(async move {
                db.execute(statement).await?;
                Ok(())
            })
        });
        done.await
    }

    /// Returns whether the running transaction contains a change.
    #[cfg(test)]
    pub(super) fn has_members(&self) -> bool {
        self.0.queue.has_members()
    }

    /// Waits for the running transaction, then closes the connection.
    pub(super) async fn close(&self) {
        let mut state = self.0.state.lock().await;
        state.closed = true;
        if let Some(connection) = state.connection.take() {
            // An error is ignored: the connection is closed in any case.
            let _ = connection.close().await;
        }
        if let Database::Memory(pool) = &self.0.database {
            pool.close().await;
        }
    }
}

/// Runs a change. If it can share its transaction, waiting changes run in the same transaction.
pub(super) fn group(seat: RunPermit, first: Arc<QueuedChange>) -> Group {
    Box::pin(async move {
        match seat.inner().hold().await {
            Err(Fault(error)) => first.refuse(error),
            Ok((connection, files)) if first.scope == Scope::Shared => {
                together(&seat, connection, files, first).await;
            }
            Ok((mut connection, _)) => {
                let Some(job) = first.begin() else {
                    return;
                };
                match job.run(connection.get()).await {
                    Ok(answer) => answer(Ok(())),
                    Err(refused) => refused.tell(),
                }
            }
        }
    })
}

async fn together(
    seat: &RunPermit,
    connection: Held,
    files: Option<Files>,
    first: Arc<QueuedChange>,
) {
    let mut change = match Change::begin(seat.inner(), connection, files).await {
        Ok(change) => change,
        Err(error) => return first.refuse(Fault::from(error).0),
    };
    let mut written: Vec<Answer> = Vec::new();
    let mut is_sound = true;
    let mut next = Some(first);
    for _ in 0..MOST {
        let mut ticket = next.take().or_else(|| seat.join());
        if ticket.is_none() {
            // Other tasks on this thread may be about to queue changes. The pause lets these changes join the transaction.
            breathe().await;
            ticket = seat.join();
        }
        let Some(ticket) = ticket else {
            break;
        };
        let Some(job) = ticket.begin() else {
            continue;
        };
        seat.admit(ticket);
        // The first change needs no savepoint.
        let is_first = written.is_empty();
        if !is_first && let Err(error) = change.execute(SAVEPOINT).await {
            drop(change);
            let error = Failure::from(error).to_string();
            undone(written, &error);
            return job.refuse(StoreError::Unavailable(error.into()));
        }
        match job.run(&mut change).await {
            Ok(answer) => {
                written.push(answer);
                if !is_first && let Err(error) = change.execute(RELEASE).await {
                    drop(change);
                    return undone(written, &Failure::from(error).to_string());
                }
            }
            Err(refused) => {
                let is_fault = matches!(refused.error, StoreError::Unavailable(_));
                if is_first {
                    if !is_fault && change.execute("ROLLBACK").await.is_ok() {
                        change.end();
                    }
                    drop(change);
                    return refused.tell();
                }
                // This fails if SQLite itself has rolled back the complete transaction, which the error of the change does not reveal.
                if change.execute(UNDO).await.is_err() {
                    drop(change);
                    undone(written, &refused.error.to_string());
                    return refused.tell();
                }
                // The other changes may have caused the refusal, so it is reported only once they are on disk.
                written.push(refused.later());
                if is_fault {
                    is_sound = false;
                    break;
                }
            }
        }
    }
    match change.commit(is_sound).await {
        Ok(()) => {
            for answer in written {
                answer(Ok(()));
            }
        }
        Err(error) => {
            let text = error.to_string();
            let mut written = written.into_iter();
            if let Some(first) = written.next() {
                first(Err(error));
            }
            undone(written, &text);
        }
    }
}

/// Lets the runtime poll other tasks once.
async fn breathe() {
    let mut waited = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut waited, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Reports to the callers that their transaction was rolled back.
fn undone(changes: impl IntoIterator<Item = Answer>, why: &str) {
    for change in changes {
        let text = format!("a transaction of several changes was rolled back: {why}");
        change(Err(StoreError::Unavailable(text.into())));
    }
}

impl Inner {
    /// Waits for a working connection.
    async fn hold(&self) -> Result<(Held, Option<Files>), Fault> {
        let mut state = Arc::clone(&self.state).lock_owned().await;
        if state.closed {
            return Err(sqlx::Error::PoolClosed.into());
        }
        match &self.database {
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
                if self.dirty.load(Ordering::Acquire) {
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

    /// Opens a new connection to a file if none is open, if the files were moved, or if the last change was not committed: it is unknown whether
    /// a fault was the cause, and whether the connection is still usable.
    async fn ready(
        &self,
        state: &mut State,
        options: &SqliteConnectOptions,
        watch: &Watch,
        readers: &SqlitePool,
    ) -> Result<(), Fault> {
        let in_place = state.files.is_some() && watch.files().ok() == state.files;
        if in_place && state.connection.is_some() && !self.dirty.load(Ordering::Acquire) {
            return Ok(());
        }
        if !in_place {
            // Connections of one process share the index of the write-ahead log, so connections to the old files must be closed first. The last of
            // them writes the content of its log into the database, even if the log file was removed.
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
                self.dirty.store(false, Ordering::Release);
                // The old connection closes on its own thread, which may still wait for a lock.
                state.connection = Some(connection);
                Ok(())
            }
            Err(error) => {
                // A full disk may leave no room for another connection, although the old connection still works.
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

    /// Makes sure that no transaction is open on a connection, and that the connection can begin one.
    async fn settle(&self, connection: &mut SqliteConnection) -> Result<(), Fault> {
        // This fails if no transaction is open. An earlier call of this function may have left a transaction if its future was dropped.
        let _ = connection.execute("ROLLBACK").await;
        connection.execute("BEGIN").await?;
        connection.execute("ROLLBACK").await?;
        self.dirty.store(false, Ordering::Release);
        Ok(())
    }
}

/// The connection, while one group of changes has exclusive use of it.
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

/// A transaction that holds the write lock. It is rolled back when dropped.
struct Change {
    connection: Held,
    files: Option<Files>,
    inner: Arc<Inner>,
    is_open: bool,
}

impl Change {
    async fn begin(
        inner: &Arc<Inner>,
        connection: Held,
        files: Option<Files>,
    ) -> Result<Self, sqlx::Error> {
        inner.dirty.store(true, Ordering::Release);
        // The change exists before the statement is sent, so that dropping this future drops the change, which rolls it back.
        let mut change = Self {
            connection,
            files,
            inner: Arc::clone(inner),
            is_open: true,
        };
        let begun = change.execute("BEGIN IMMEDIATE").await;
        if begun.as_ref().is_err_and(is_busy) {
            // No transaction began, and the connection is usable.
            change.end();
        }
        begun?;
        Ok(change)
    }

    /// Commits the transaction to disk. If `is_sound` is false, the next transaction replaces the connection, or checks it if the database is in
    /// memory.
    async fn commit(mut self, is_sound: bool) -> Result<(), StoreError> {
        if let Database::File { watch, .. } = &self.inner.database
            && watch.files().ok() != self.files
        {
            return Err(moved(watch));
        }
        self.execute("COMMIT").await.map_err(Fault::from)?;
        self.is_open = false;
        self.inner.dirty.store(!is_sound, Ordering::Release);
        Ok(())
    }

    /// Marks the transaction as ended.
    fn end(&mut self) {
        self.is_open = false;
        self.inner.dirty.store(false, Ordering::Release);
    }
}

impl Drop for Change {
    fn drop(&mut self) {
        if self.is_open {
            // The first poll sends the statement to the connection's thread, so no runtime is needed, and other processes can write at once. The next
            // change replaces the connection, or checks that the rollback succeeded.
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

fn moved(watch: &Watch) -> StoreError {
    let path = watch.path().display();
    let text = format!(
        "the files of the database `{path}` were removed or replaced during the change, which was rolled back; \
         stop the program before files are moved"
    );
    StoreError::Unavailable(text.into())
}
