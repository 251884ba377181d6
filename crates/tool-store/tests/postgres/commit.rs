//! Tests of connections that are lost during a transaction, especially during its commit.

use std::error::Error as _;
use std::time::{Duration, Instant};

use test_support::Ran;
use test_support::postgres::{Cut, Proxy, server};
use tool_store::suite::records::{acme, audit, intent, key, message, thread};
use tool_store::*;

use crate::database::Database;

/// Returns a store that connects to the database through a proxy.
async fn proxied(database: &Database, connections: u32) -> (Proxy, PostgresStore) {
    let proxy = Proxy::start(server().unwrap().address()).await;
    let options = PostgresOptions::new(&proxy.url(&database.url)).unwrap();
    let options = options.migrator(&database.url).unwrap();
    let options = options
        .patience(Duration::from_secs(2))
        .connections(connections);
    let store = options.clock(PostgresClock::Caller).open().await.unwrap();
    (proxy, store)
}

fn hello() -> NewMessage {
    message("t", Role::User, None)
}

async fn messages(store: &PostgresStore) -> usize {
    let messages = ThreadStore::read(store, &thread("t"), None).await;
    messages.unwrap().len()
}

// M6: a commit whose response is lost is not repeated, because the server reports that the transaction was committed.
pub(crate) async fn commit_with_a_lost_response_is_not_repeated_case() -> Ran {
    let database = Database::create().await?;
    let (proxy, store) = proxied(&database, 4).await;
    for (round, cut) in [(1, Cut::AfterCommit), (2, Cut::SilentAfterCommit)] {
        proxy.cut(cut, 1);
        assert_eq!(store.append(hello()).await.unwrap(), round, "{cut:?}");
        assert_eq!(messages(&store).await, usize::try_from(round).unwrap());
        assert_eq!(u64::from(proxy.cuts()), round, "no connection was cut");
    }
    proxy.cut(Cut::AfterCommit, 1);
    let begun = store.begin(intent("k"), Some(audit("k"))).await;
    assert_eq!(begun.unwrap(), Begun::New);
    let row = EffectLedger::get(&store, &key("k")).await.unwrap().unwrap();
    assert_eq!((row.attempt, row.state), (1, EffectState::Running));
    let rows = store.export(Scope::All, &AuditFilter::default()).await;
    assert_eq!(rows.unwrap().len(), 1);
    Ok(())
}

// M6: a commit that did not reach the server is repeated, and takes effect once.
pub(crate) async fn commit_that_did_not_arrive_is_repeated_case() -> Ran {
    let database = Database::create().await?;
    let (proxy, store) = proxied(&database, 4).await;
    for (round, cut) in [(1, Cut::BeforeCommit), (2, Cut::SilentBeforeCommit)] {
        proxy.cut(cut, 1);
        assert_eq!(store.append(hello()).await.unwrap(), round, "{cut:?}");
        assert_eq!(messages(&store).await, usize::try_from(round).unwrap());
        assert_eq!(u64::from(proxy.cuts()), round, "no connection was cut");
    }
    Ok(())
}

// If every commit is lost, the change fails after at most five attempts, and nothing is stored.
pub(crate) async fn lost_connections_are_replaced_a_bounded_number_of_times_case() -> Ran {
    let database = Database::create().await?;
    let (proxy, store) = proxied(&database, 4).await;
    proxy.cut(Cut::BeforeCommit, u32::MAX);
    let refused = store.append(hello()).await.unwrap_err();
    assert!(matches!(refused, StoreError::Unavailable(_)), "{refused:?}");
    assert!(refused.to_string().contains("connection"), "{refused}");
    assert!(proxy.cuts() <= 5, "{} attempts", proxy.cuts());
    proxy.cut(Cut::Nowhere, 0);
    assert_eq!(messages(&store).await, 0);
    assert_eq!(store.append(hello()).await.unwrap(), 1);
    Ok(())
}

// M6: the outcome is unknown only if the server cannot be queried. The error states this, and contains the id of the transaction.
pub(crate) async fn outcome_is_unknown_if_the_server_cannot_be_queried_case() -> Ran {
    let database = Database::create().await?;
    let (proxy, store) = proxied(&database, 1).await;
    assert_eq!(store.append(hello()).await.unwrap(), 1);
    proxy.cut(Cut::AfterCommit, 1);
    proxy.refuse(true);
    let unknown = store.append(hello()).await.unwrap_err();
    let StoreError::Unavailable(source) = &unknown else {
        panic!("{unknown:?}");
    };
    assert!(source.is::<UnknownOutcome>(), "{unknown:?}");
    assert!(unknown.source().is_none() && unknown.to_string().contains("outcome of transaction"));
    proxy.refuse(false);
    assert_eq!(messages(&store).await, 2);
    Ok(())
}

// Idle connections that the server has closed are replaced without an error.
pub(crate) async fn idle_connections_that_were_closed_are_replaced_case() -> Ran {
    let database = Database::create().await?;
    let (proxy, store) = proxied(&database, 4).await;
    for round in 1..4 {
        // Several connections of the pool are open.
        let reads = (0..4).map(|_| messages(&store));
        futures::future::join_all(reads).await;
        proxy.end_all();
        if round == 2 {
            assert_eq!(messages(&store).await, 1);
        }
        assert_eq!(store.append(hello()).await.unwrap(), round);
    }
    Ok(())
}

// If the server is unreachable for a few seconds, the calls of that time fail, and later calls succeed.
pub(crate) async fn store_works_after_the_server_was_unreachable_case() -> Ran {
    let database = Database::create().await?;
    let (proxy, store) = proxied(&database, 4).await;
    assert_eq!(store.append(hello()).await.unwrap(), 1);
    proxy.refuse(true);
    proxy.end_all();
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(3) {
        let refused = store.append(hello()).await.unwrap_err();
        assert!(matches!(refused, StoreError::Unavailable(_)), "{refused:?}");
        let refused = ApprovalStore::get(&store, &acme(), "a").await.unwrap_err();
        assert!(matches!(refused, StoreError::Unavailable(_)), "{refused:?}");
    }
    proxy.refuse(false);
    assert_eq!(store.append(hello()).await.unwrap(), 2);
    Ok(())
}

// If the network stops forwarding, a call fails within 20 seconds, and later calls succeed.
pub(crate) async fn unresponsive_network_fails_calls_within_the_timeout_case() -> Ran {
    let database = Database::create().await?;
    let (proxy, store) = proxied(&database, 4).await;
    assert_eq!(store.append(hello()).await.unwrap(), 1);
    proxy.freeze(true);
    let began = Instant::now();
    store.append(hello()).await.unwrap_err();
    assert!(began.elapsed() < Duration::from_secs(20));
    proxy.freeze(false);
    assert_eq!(store.append(hello()).await.unwrap(), 2);
    Ok(())
}

// Half-open connections are replaced, including the connections of callers that were dropped while they waited.
pub(crate) async fn half_open_connections_are_replaced_case() -> Ran {
    let database = Database::create().await?;
    let (proxy, store) = proxied(&database, 4).await;
    assert_eq!(store.append(hello()).await.unwrap(), 1);
    futures::future::join_all((0..4).map(|_| messages(&store))).await;
    proxy.half_open();
    let before = proxy.connections();
    for _ in 0..8 {
        let read = tokio::time::timeout(Duration::from_millis(50), messages(&store));
        let append = tokio::time::timeout(Duration::from_millis(50), store.append(hello()));
        let _ = futures::join!(read, append);
    }
    let began = Instant::now();
    store.append(hello()).await.unwrap();
    assert!(messages(&store).await >= 2);
    assert!(began.elapsed() < Duration::from_secs(20));
    assert!(proxy.connections() > before);
    Ok(())
}

// If two transactions deadlock, the server aborts one of them, and the store repeats that transaction.
pub(crate) async fn deadlocks_are_resolved_by_repeating_case() -> Ran {
    let database = Database::create().await?;
    let store = database.options().open().await.unwrap();
    let rows = |names: [&str; 2]| names.map(audit).to_vec();
    // The store always writes rows in the same order, so the test runs the other transaction itself.
    for _ in 0..5 {
        let mut other = database.connect().await;
        sqlx::raw_sql("BEGIN").execute(&mut other).await.unwrap();
        store.write(rows(["a", "b"])).await.unwrap();
        let lock = |name: &'static str| {
            sqlx::query("UPDATE tool_store.audit SET layer = 'x' WHERE key = $1").bind(name)
        };
        lock("b").execute(&mut other).await.unwrap();
        let writes = store.write(rows(["a", "b"]));
        let deadlock = async {
            tokio::time::sleep(Duration::from_millis(100)).await;
            let locked = lock("a").execute(&mut other).await;
            let ended = if locked.is_ok() { "COMMIT" } else { "ROLLBACK" };
            sqlx::raw_sql(ended).execute(&mut other).await.unwrap();
        };
        let (written, ()) = futures::join!(writes, deadlock);
        written.unwrap();
    }
    Ok(())
}
