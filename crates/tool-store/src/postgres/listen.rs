//! Generations: counters that grow with every change of data that processes cache, and the listener that detects changes and queued threads before the next
//! poll.
//!
//! A process detects a change by polling the number. A notification only shortens the wait, and may be lost with the connection. The store sends it in a
//! separate transaction after the change, because PostgreSQL serializes the commits of transactions that notify.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgListener, PgPoolOptions};
use sqlx::{Executor as _, Row as _};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use crate::env;
use crate::sql::contents::Contents;

use super::{Inner, PostgresStore};

/// The channel of the notifications. The payload is the name of a generation, or [`WORK`].
const CHANNEL: &str = "tool_store";

/// The payload of a notification that a thread was queued.
const WORK: &str = "work";

/// The minimum time between two notifications of one process that threads were queued. Threads that are queued in between share the second notification.
const COALESCED: Duration = Duration::from_millis(20);

/// The time without a notification after which the listener checks its connection, and the timeout of the check. Without the check, the listener
/// could not distinguish an idle connection from a connection whose server failed without closing it.
const HEARTBEAT: Duration = Duration::from_secs(2);

/// Maximum pause before the listener reconnects.
const PAUSE: Duration = Duration::from_secs(5);

/// The timeout for sending a notification.
const NOTIFY: Duration = Duration::from_secs(1);

/// The number of each generation, by its name.
pub(super) type Generations = BTreeMap<String, u64>;

/// Handle on the listener, with the numbers that it read last.
#[derive(Debug)]
pub(super) struct Listening {
    known: watch::Receiver<Generations>,
    /// The number of times that the listener learned that threads may have been queued: after connecting, and for notifications.
    work: watch::Receiver<u64>,
    /// The listener ends when this sender is dropped or sends `true`.
    ends: watch::Sender<bool>,
}

impl Listening {
    /// Starts a listener in the background if `options` is `Some`. The listener reads the numbers through `store`.
    pub(super) fn start(options: Option<PgConnectOptions>, store: Weak<Inner>) -> Self {
        let (known, receiver) = watch::channel(Generations::new());
        let (queued, work) = watch::channel(0);
        let (ends, ended) = watch::channel(false);
        if let Some(options) = options {
            let told = Told { known, queued };
            env::spawn(run(options, store, told, ended));
        }
        Self {
            known: receiver,
            work,
            ends,
        }
    }

    pub(super) fn end(&self) {
        self.ends.send_replace(true);
    }

    /// Waits until the number of [`work`](Self::work) is greater than `after`, and returns the new number. Without a listener, it waits forever.
    pub(super) async fn work_queued(&self, after: u64) -> u64 {
        let mut work = self.work.clone();
        let number = work.wait_for(|now| *now > after).await;
        let number = number.map(|number| *number);
        match number {
            Ok(number) => number,
            Err(_) => std::future::pending().await,
        }
    }

    /// Waits until the listener has read a later number of a generation. Without a listener, it waits forever.
    pub(super) async fn changed(&self, name: &str, number: u64) {
        let mut known = self.known.clone();
        let is_later = |known: &Generations| known.get(name).is_some_and(|now| *now > number);
        if known.wait_for(is_later).await.is_err() {
            // The sender was dropped, so no listener runs.
            std::future::pending::<()>().await;
        }
    }
}

/// The channels through which the listener informs the store.
struct Told {
    known: watch::Sender<Generations>,
    queued: watch::Sender<u64>,
}

/// The state of the notifications that threads were queued: at most one task of a store sends them.
#[derive(Debug, Default)]
pub(super) struct Hints(Arc<Mutex<Sending>>);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Sending {
    #[default]
    Idle,
    /// The task sends one notification.
    Once,
    /// A thread was queued after the task had begun to send.
    Again,
}

impl Hints {
    /// Records that a thread was queued. Returns the right to send notifications if no task has it.
    fn begin(&self) -> Option<HintSender> {
        let mut sending = lock(&self.0);
        let is_idle = *sending == Sending::Idle;
        *sending = if is_idle {
            Sending::Once
        } else {
            Sending::Again
        };
        is_idle.then(|| HintSender(Some(Arc::clone(&self.0))))
    }
}

/// The right to send notifications. If it is dropped before its end, for example with the runtime of its task, the next queued thread starts a new task.
struct HintSender(Option<Arc<Mutex<Sending>>>);

impl HintSender {
    /// Returns whether the task has to send one more notification after it has sent one. If not, the task ends.
    fn goes_on(&mut self) -> bool {
        let Some(state) = &self.0 else {
            return false;
        };
        let mut sending = lock(state);
        let goes_on = *sending == Sending::Again;
        *sending = if goes_on {
            Sending::Once
        } else {
            Sending::Idle
        };
        drop(sending);
        if !goes_on {
            // From now on, another task may send.
            self.0 = None;
        }
        goes_on
    }
}

impl Drop for HintSender {
    fn drop(&mut self) {
        if let Some(state) = &self.0 {
            *lock(state) = Sending::Idle;
        }
    }
}

fn lock(state: &Mutex<Sending>) -> MutexGuard<'_, Sending> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Listens until the store is dropped or closed.
async fn run(
    options: PgConnectOptions,
    store: Weak<Inner>,
    told: Told,
    mut ended: watch::Receiver<bool>,
) {
    let listening = async {
        let mut pause = Duration::ZERO;
        let mut is_reported = false;
        loop {
            let lost = listen(&options, &store, &told, &mut pause).await;
            if !is_reported {
                tracing::warn!(error = %lost, "the connection for PostgreSQL notifications failed, changes of other processes are detected by polling");
                is_reported = true;
            }
            if pause.is_zero() {
                // The listener had connected before the error.
                is_reported = false;
            }
            pause = (pause * 2).clamp(Duration::from_millis(100), PAUSE);
            sleep(pause).await;
        }
    };
    tokio::select! {
        () = listening => {}
        // An error means that the store was dropped.
        _ = ended.wait_for(|ended| *ended) => {}
    }
}

/// Listens until the connection is lost, and returns the error. Sets `pause` to zero once it is connected.
async fn listen(
    options: &PgConnectOptions,
    store: &Weak<Inner>,
    told: &Told,
    pause: &mut Duration,
) -> sqlx::Error {
    let connected = async {
        let own = PgPoolOptions::new()
            .max_connections(1)
            .acquire_timeout(HEARTBEAT)
            .connect_lazy_with(options.clone());
        let mut listener = PgListener::connect_with(&own).await?;
        listener.listen(CHANNEL).await?;
        Ok(listener)
    };
    let mut listener = match timeout(2 * HEARTBEAT, connected).await {
        Ok(Ok(listener)) => listener,
        Ok(Err(error)) => return error,
        Err(_) => return super::change::too_slow(2 * HEARTBEAT),
    };
    *pause = Duration::ZERO;
    // `try_recv` then returns `None` after a lost connection instead of reconnecting, because only `run` reconnects.
    listener.eager_reconnect(false);
    // The numbers are also read after connecting, because earlier notifications were lost.
    let (mut has_changes, mut has_work) = (true, true);
    loop {
        if has_work {
            told.queued.send_modify(|number| *number += 1);
        }
        // If the numbers cannot be read, the next notification of any kind reads them.
        if has_changes && let Ok(generations) = read(store).await {
            has_changes = false;
            told.known.send_if_modified(|known| {
                let changed = *known != generations;
                *known = generations;
                changed
            });
        }
        let noticed = loop {
            match timeout(HEARTBEAT, listener.try_recv()).await {
                Ok(noticed) => break noticed,
                Err(_) => match timeout(HEARTBEAT, listener.execute("SELECT")).await {
                    Ok(Ok(_)) => {}
                    Ok(Err(error)) => return error,
                    Err(_) => return super::change::too_slow(HEARTBEAT),
                },
            }
        };
        let first = match noticed {
            Ok(Some(first)) => first,
            Ok(None) => {
                return sqlx::Error::Protocol("the connection of the listener ended".to_owned());
            }
            Err(error) => return error,
        };
        // One read covers all notifications that were received so far.
        has_work = first.payload() == WORK;
        has_changes |= !has_work;
        while let Some(next) = listener.next_buffered() {
            let is_work = next.payload() == WORK;
            has_work |= is_work;
            has_changes |= !is_work;
        }
    }
}

/// Reads all numbers with a connection of the pool.
async fn read(store: &Weak<Inner>) -> Result<Generations, sqlx::Error> {
    let Some(inner) = store.upgrade() else {
        return Err(sqlx::Error::PoolClosed);
    };
    let mut connection = PostgresStore(inner, Contents::default())
        .connection()
        .await?;
    // A pooler forwards a simple query in a single message.
    let rows = connection.fetch_all("SELECT name, number FROM tool_store.generation");
    let rows = timeout(HEARTBEAT, rows).await;
    let rows = rows.unwrap_or_else(|_| Err(super::change::too_slow(HEARTBEAT)))?;
    connection.give_back();
    let numbers = rows.iter().map(|row| {
        let number: i64 = row.try_get(1)?;
        Ok((row.try_get(0)?, number.cast_unsigned()))
    });
    numbers.collect()
}

impl PostgresStore {
    /// Sends a notification. A failure is ignored, because other processes detect the change when they poll.
    pub(super) async fn notify(&self, name: &'static str) {
        let notified = timeout(NOTIFY, async {
            let mut connection = self.connection().await?;
            // The name is a literal of this crate, so it needs no quoting. A simple query is a separate transaction.
            let notify = format!("NOTIFY {CHANNEL}, '{name}'");
            connection.execute(sqlx::AssertSqlSafe(notify)).await?;
            connection.give_back();
            Ok::<_, sqlx::Error>(())
        });
        if let Ok(Err(error)) = notified.await {
            tracing::debug!(%error, "other processes are not notified of a change, they detect it by polling");
        }
    }

    /// Notifies the workers of other processes in the background that a thread was queued.
    pub(super) fn hint_work(&self) {
        let Some(mut sender) = self.0.hints.begin() else {
            return;
        };
        let store = self.clone();
        env::spawn(async move {
            loop {
                store.notify(WORK).await;
                sleep(COALESCED).await;
                if !sender.goes_on() {
                    return;
                }
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::Hints;

    // If the runtime of the sending task is dropped, the next queued thread starts a new task.
    #[test]
    fn dropped_task_leaves_no_hint_unsent() {
        let hints = Hints::default();
        for queued in 0..3 {
            let sender = hints.begin();
            assert!(sender.is_some(), "{queued}");
            assert!(hints.begin().is_none());
            drop(sender);
        }
        let mut sender = hints.begin().expect("no task sends");
        assert!(hints.begin().is_none());
        assert!(sender.goes_on());
        assert!(!sender.goes_on());
        // The first task has ended, so its value does not end the second task.
        let mut second = hints.begin().expect("no task sends");
        drop(sender);
        assert!(hints.begin().is_none());
        assert!(second.goes_on());
    }
}
