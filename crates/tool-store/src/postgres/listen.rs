//! Generations: numbers that grow with every change of what processes keep in memory, and the listener that notices them early.
//!
//! A process learns of a change by reading the number, which its users poll. A notification only shortens the wait: it is sent in a transaction of its own
//! after the change, because all transactions of a server that notify commit one after the other, and it may be lost with the connection.

use std::collections::BTreeMap;
use std::sync::Weak;
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgListener, PgPoolOptions};
use sqlx::{Executor as _, Row as _};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use crate::env;

use super::{Inner, PostgresStore};

/// The channel of the notifications. The payload is the name of a generation.
const CHANNEL: &str = "tool_store";

/// How often the listener checks that its connection still works, and how long the answer may take. A connection whose other side is gone without a word
/// looks like one on which nothing happens.
const HEARTBEAT: Duration = Duration::from_secs(2);

/// The longest pause before the listener connects again.
const PAUSE: Duration = Duration::from_secs(5);

/// How long sending a notification may take.
const NOTIFY: Duration = Duration::from_secs(1);

/// The numbers by name.
pub(super) type Generations = BTreeMap<String, u64>;

/// The numbers that the listener read last.
#[derive(Debug)]
pub(super) struct Listening {
    known: watch::Receiver<Generations>,
    /// The listener ends when this is dropped or set.
    ends: watch::Sender<bool>,
}

impl Listening {
    /// Starts a listener in the background; without options, nothing is ever noticed. `store` is used for reading the numbers.
    pub(super) fn start(options: Option<PgConnectOptions>, store: Weak<Inner>) -> Self {
        let (known, receiver) = watch::channel(Generations::new());
        let (ends, ended) = watch::channel(false);
        if let Some(options) = options {
            env::spawn(run(options, store, known, ended));
        }
        Self {
            known: receiver,
            ends,
        }
    }

    pub(super) fn end(&self) {
        self.ends.send_replace(true);
    }

    /// Waits until a generation is known to have a later number.
    pub(super) async fn changed(&self, name: &str, number: u64) {
        let mut known = self.known.clone();
        let is_later = |known: &Generations| known.get(name).is_some_and(|now| *now > number);
        if known.wait_for(is_later).await.is_err() {
            // There is no listener.
            std::future::pending::<()>().await;
        }
    }
}

/// Listens until the store is dropped or closed.
async fn run(
    options: PgConnectOptions,
    store: Weak<Inner>,
    known: watch::Sender<Generations>,
    mut ended: watch::Receiver<bool>,
) {
    let listening = async {
        let mut pause = Duration::ZERO;
        let mut is_reported = false;
        loop {
            let lost = listen(&options, &store, &known, &mut pause).await;
            if !is_reported {
                tracing::warn!(error = %lost, "no notifications of PostgreSQL arrive, changes of other processes are noticed by polling");
                is_reported = true;
            }
            if pause.is_zero() {
                // It was connected in between.
                is_reported = false;
            }
            pause = (pause * 2).clamp(Duration::from_millis(100), PAUSE);
            sleep(pause).await;
        }
    };
    tokio::select! {
        () = listening => {}
        // Also an error: the store was dropped.
        _ = ended.wait_for(|ended| *ended) => {}
    }
}

/// Listens until the connection is lost, and returns why. Clears `pause` once it is connected.
async fn listen(
    options: &PgConnectOptions,
    store: &Weak<Inner>,
    known: &watch::Sender<Generations>,
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
    // `None` after a lost connection is an error here, so that one place connects again.
    listener.eager_reconnect(false);
    loop {
        // Also after connecting: notifications of the time before were lost.
        if let Ok(generations) = read(store).await {
            known.send_if_modified(|known| {
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
        match noticed {
            Ok(Some(_)) => {}
            Ok(None) => {
                return sqlx::Error::Protocol("the connection of the listener ended".to_owned());
            }
            Err(error) => return error,
        }
        // Further notifications of the same moment need no read of their own.
        while listener.next_buffered().is_some() {}
    }
}

/// Reads all numbers with an ordinary connection.
async fn read(store: &Weak<Inner>) -> Result<Generations, sqlx::Error> {
    let Some(inner) = store.upgrade() else {
        return Err(sqlx::Error::PoolClosed);
    };
    let mut connection = PostgresStore(inner).connection().await?;
    // A simple query, so that a pooler passes it on as a whole.
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
    /// Sends a notification that a generation has changed. A failure is ignored: other processes notice the change when they poll.
    pub(super) async fn notify(&self, name: &'static str) {
        let notified = timeout(NOTIFY, async {
            let mut connection = self.connection().await?;
            // The name is a literal of this crate. A simple query is a transaction of its own.
            let notify = format!("NOTIFY {CHANNEL}, '{name}'");
            connection.execute(sqlx::AssertSqlSafe(notify)).await?;
            connection.give_back();
            Ok::<_, sqlx::Error>(())
        });
        if let Ok(Err(error)) = notified.await {
            tracing::debug!(%error, "other processes are not notified of a change, they notice it by polling");
        }
    }
}
