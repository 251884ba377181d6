//! Tests of changes that share a transaction: their cost, and their independence of each other.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests fail by panicking, and spawn their own tasks"
)]

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::store::*;
use futures::future::join_all;
use futures::poll;
use sqlx::Executor as _;
use tempfile::TempDir;
use tokio::sync::oneshot;

use super::wal::commits;
use super::{Fault, SqliteStore};
use crate::suite::records::{self, intent, key};

async fn store() -> (TempDir, PathBuf, SqliteStore) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("state.db");
    let store = SqliteStore::open(&file).await.unwrap();
    (folder, file, store)
}

/// Returns a change that writes nothing and keeps its transaction open until the sender sends or is dropped. Changes that are polled while it is open
/// share the transaction.
fn holding(
    store: &SqliteStore,
) -> (
    oneshot::Sender<()>,
    impl Future<Output = Result<(), Fault>> + use<>,
) {
    let (release, released) = oneshot::channel();
    let store = store.clone();
    let held = async move {
        let held = store.change(|_| {
            Box::pin(async move {
                let _ = released.await;
                Ok(())
            })
        });
        held.await
    };
    (release, held)
}

/// Polls the change that holds the transaction until its body has begun.
async fn until_open(store: &SqliteStore, held: impl Future<Output = Result<(), Fault>> + Unpin) {
    let mut held = held;
    while !store.writer.has_members() {
        assert!(poll!(&mut held).is_pending());
        tokio::task::yield_now().await;
    }
}

fn row(id: &str, bytes: usize) -> AuditRow {
    let row = AuditRow::new(records::named(id), "c1", "send_mail", Timestamp::default());
    AuditRow {
        arguments: "x".repeat(bytes),
        ..row
    }
}

/// Returns the ids of the stored rows, sorted.
async fn ids(store: &SqliteStore) -> Vec<String> {
    let filter = AuditFilter::default();
    let rows = store.export(Scope::All, &filter).await.unwrap();
    let mut ids: Vec<_> = rows.iter().map(records::key_of).collect();
    ids.sort();
    ids
}

// Changes that wait at the same time share transactions of up to 32 changes, and each transaction costs one `fsync`.
#[tokio::test]
async fn waiting_changes_share_commits() {
    let (_folder, file, store) = store().await;
    for (changes, most) in [(20, 1), (100, 4)] {
        let (release, held) = holding(&store);
        let mut held = Box::pin(held);
        until_open(&store, &mut held).await;
        let mut waiting = Vec::new();
        for n in 0..changes {
            let mut write = store.write(vec![row(&format!("{changes}-{n}"), 10)]);
            assert!(poll!(&mut write).is_pending());
            waiting.push(write);
        }
        let before = commits(&file);
        release.send(()).unwrap();
        let (held, written) = futures::join!(held, join_all(waiting));
        held.unwrap();
        written.into_iter().for_each(Result::unwrap);
        assert_eq!(commits(&file) - before, most);
    }
    assert_eq!(ids(&store).await.len(), 120);
}

// A refused change fails for its caller and does not affect the other changes of its transaction.
#[tokio::test]
async fn refused_change_does_not_affect_its_transaction() {
    let (_folder, file, store) = store().await;
    let (release, held) = holding(&store);
    let mut held = Box::pin(held);
    until_open(&store, &mut held).await;
    let mut begun = store.begin(intent("one"), None);
    let mut other = intent("one");
    other.tool = "another".to_owned();
    let mut refused = store.begin(other, None);
    let mut written = store.write(vec![row("written", 10)]);
    for waiting in [
        poll!(&mut begun).is_pending(),
        poll!(&mut refused).is_pending(),
        poll!(&mut written).is_pending(),
    ] {
        assert!(waiting);
    }
    let before = commits(&file);
    release.send(()).unwrap();
    let (held, begun, refused, written) = futures::join!(held, begun, refused, written);
    held.unwrap();
    assert_eq!(begun.unwrap(), Begun::New);
    assert!(
        matches!(refused, Err(StoreError::Conflict(_))),
        "{refused:?}"
    );
    written.unwrap();
    assert_eq!(commits(&file) - before, 1);
    assert_eq!(ids(&store).await, ["written"]);
}

// A change whose caller is dropped before the change begins writes nothing. If the dropped caller runs the transaction, a different caller
// continues.
#[tokio::test]
async fn dropped_caller_does_not_lose_changes_of_others() {
    let (_folder, _file, store) = store().await;
    let (release, held) = holding(&store);
    let mut held = Box::pin(held);
    until_open(&store, &mut held).await;
    let mut stays = store.write(vec![row("stays", 10)]);
    let mut leaves = store.write(vec![row("leaves", 10)]);
    assert!(poll!(&mut stays).is_pending());
    assert!(poll!(&mut leaves).is_pending());
    drop(leaves);
    // This caller runs the transaction.
    drop(held);
    release.send(()).unwrap();
    stays.await.unwrap();
    assert_eq!(ids(&store).await, ["stays"]);
}

// Callers may be dropped at any poll: the stored rows match the results that the other callers of the transaction received.
#[tokio::test(flavor = "multi_thread")]
async fn callers_dropped_at_any_poll_keep_confirmed_changes() {
    let (_folder, _file, file_store) = store().await;
    for store in [file_store, SqliteStore::in_memory().await.unwrap()] {
        let mut expected = Vec::new();
        for round in 0..100_usize {
            let writes = (0..6).map(|n| {
                let store = store.clone();
                tokio::spawn(async move {
                    let id = format!("{round}-{n}");
                    let mut write = store.write(vec![row(&id, 10), row(&format!("{id} too"), 10)]);
                    let mut left = match n {
                        0 => round % 40,
                        1 => round % 7,
                        _ => usize::MAX,
                    };
                    let answer = std::future::poll_fn(|cx| {
                        if left == 0 {
                            return std::task::Poll::Ready(None);
                        }
                        left -= 1;
                        write.as_mut().poll(cx).map(Some)
                    });
                    let answer = answer.await;
                    (id, answer.map(Result::unwrap))
                })
            });
            for (id, answer) in join_all(writes.collect::<Vec<_>>())
                .await
                .into_iter()
                .map(Result::unwrap)
            {
                if answer.is_some() {
                    expected.push(id);
                }
            }
        }
        let stored = ids(&store).await;
        assert!(expected.len() >= 400);
        for id in expected {
            assert!(stored.binary_search(&id).is_ok(), "{id} was lost");
        }
        for id in &stored {
            let one = id.trim_end_matches(" too");
            let both = [one.to_owned(), format!("{one} too")];
            assert!(
                both.iter().all(|id| stored.binary_search(id).is_ok()),
                "half of {id}"
            );
        }
    }
}

// A change fails if the disk becomes full during it. The results of the other changes of the group match the stored rows, and later changes succeed.
#[tokio::test]
async fn full_disk_fails_only_the_change_that_does_not_fit() {
    let (_folder, _file, store) = store().await;
    store.write(vec![row("before", 10)]).await.unwrap();
    super::faults::stop_growth(&store).await;
    let (release, held) = holding(&store);
    let mut held = Box::pin(held);
    until_open(&store, &mut held).await;
    let mut writes = [
        store.write(vec![row("earlier", 10)]),
        store.write(vec![row("half", 10), row("large", 3_000_000)]),
        store.write(vec![row("later", 10)]),
    ];
    for write in &mut writes {
        assert!(poll!(write).is_pending());
    }
    release.send(()).unwrap();
    let (_, answers) = futures::join!(held, join_all(writes));
    let mut told = vec!["before".to_owned()];
    for (id, answer) in ["earlier", "half", "later"].into_iter().zip(answers) {
        match answer {
            Ok(()) => told.push(id.to_owned()),
            Err(error) if id == "half" => assert!(error.to_string().contains("full"), "{error}"),
            Err(error) => assert!(matches!(error, StoreError::Unavailable(_)), "{error}"),
        }
    }
    assert!(!told.contains(&"half".to_owned()));
    assert_eq!(ids(&store).await, told);
    store.write(vec![row("next", 3_000_000)]).await.unwrap();
}

// An error after which SQLite has rolled back by itself is reported to every change of the transaction.
#[tokio::test]
async fn transaction_error_is_reported_to_all_its_changes() {
    let (_folder, _file, store) = store().await;
    let (release, held) = holding(&store);
    let mut held = Box::pin(held);
    until_open(&store, &mut held).await;
    let mut written = store.write(vec![row("written", 10)]);
    let mut fails = Box::pin(store.change(|db| {
        Box::pin(async move {
            db.execute("ROLLBACK").await?;
            Err::<(), _>(Fault(StoreError::Unavailable("the disk failed".into())))
        })
    }));
    let mut later = store.write(vec![row("later", 10)]);
    assert!(poll!(&mut written).is_pending());
    assert!(poll!(&mut fails).is_pending());
    assert!(poll!(&mut later).is_pending());
    release.send(()).unwrap();
    let (held, written, fails, later) = futures::join!(held, written, fails, later);
    for told in [
        held.map_err(StoreError::from),
        written,
        fails.map_err(StoreError::from),
    ] {
        let text = told.unwrap_err().to_string();
        assert!(text.contains("the disk failed"), "{text}");
    }
    // This change ran in the next transaction.
    later.unwrap();
    assert_eq!(ids(&store).await, ["later"]);
}

// In a saturated store, ends of calls and lease renewals run before calls that wait to begin, even within a transaction.
#[tokio::test]
async fn call_ends_run_before_waiting_calls() {
    let (_folder, _file, store) = store().await;
    store.begin(intent("ended"), None).await.unwrap();
    store.begin(intent("renewed"), None).await.unwrap();
    let (release, held) = holding(&store);
    let mut held = Box::pin(held);
    until_open(&store, &mut held).await;
    let order = Arc::new(Mutex::new(Vec::new()));
    let mut waiting = Vec::new();
    for n in 0..100 {
        let order = Arc::clone(&order);
        let mut ordinary = Box::pin(store.change(move |_| {
            order.lock().unwrap().push(n);
            Box::pin(async { Ok(()) })
        }));
        assert!(poll!(&mut ordinary).is_pending());
        waiting.push(ordinary);
    }
    let end = records::end(EffectState::Succeeded, 200);
    let (ended, renewed) = (key("ended"), key("renewed"));
    let mut end = store.end(&ended, "run-1", end);
    let mut renew = EffectLedger::renew(&store, &renewed, "run-1", records::at(9_000));
    let mut audit = store.write(vec![AuditRow {
        outcome: Some("ok".to_owned()),
        ..row("read", 10)
    }]);
    assert!(poll!(&mut end).is_pending());
    assert!(poll!(&mut renew).is_pending());
    assert!(poll!(&mut audit).is_pending());
    release.send(()).unwrap();
    let begun = || order.lock().unwrap().len();
    let ends = async {
        end.await.unwrap();
        assert!(renew.await.unwrap());
        audit.await.unwrap();
        begun()
    };
    let (held, before, all) = futures::join!(held, ends, join_all(waiting));
    held.unwrap();
    all.into_iter().for_each(Result::unwrap);
    // The ends share the running transaction: no change of the next transaction ran before them.
    assert!(before < 32, "{before} of 100 changes ran before the end");
    assert_eq!(*order.lock().unwrap(), (0..100).collect::<Vec<_>>());
}

// A change with priority runs before the other changes, instead of only being committed before them.
#[tokio::test]
async fn priority_changes_run_first() {
    let (_folder, _file, store) = store().await;
    let (release, held) = holding(&store);
    let mut held = Box::pin(held);
    until_open(&store, &mut held).await;
    let order = Arc::new(Mutex::new(Vec::new()));
    let push = |what: &'static str| {
        let order = Arc::clone(&order);
        move || order.lock().unwrap().push(what)
    };
    let (one, two) = (push("ordinary"), push("first"));
    let mut ordinary = Box::pin(store.change(move |_| {
        one();
        Box::pin(async { Ok(()) })
    }));
    let mut first = Box::pin(store.change_first(move |_| {
        two();
        Box::pin(async { Ok(()) })
    }));
    assert!(poll!(&mut ordinary).is_pending());
    assert!(poll!(&mut first).is_pending());
    release.send(()).unwrap();
    let (held, ordinary, first) = futures::join!(held, ordinary, first);
    held.and(ordinary).and(first).unwrap();
    assert_eq!(*order.lock().unwrap(), ["first", "ordinary"]);
}

// A change whose wait has timed out is not made later.
#[tokio::test]
async fn change_that_waited_too_long_is_not_made() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("state.db");
    let store = SqliteStore::open_with(&file, Duration::from_millis(20))
        .await
        .unwrap();
    let (release, held) = holding(&store);
    let mut held = Box::pin(held);
    until_open(&store, &mut held).await;
    let refused = store.write(vec![row("late", 10)]).await;
    let text = refused.unwrap_err().to_string();
    assert!(text.contains("send fewer calls at once"), "{text}");
    release.send(()).unwrap();
    held.await.unwrap();
    assert!(ids(&store).await.is_empty());
}

// The other callers do not hang if the runtime of the caller that runs the transaction shuts down.
#[tokio::test]
async fn runtime_shutdown_does_not_block_other_callers() {
    let (_folder, _file, store) = store().await;
    let other = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let (release, held) = holding(&store);
    other.spawn(held);
    while !store.writer.has_members() {
        tokio::task::yield_now().await;
    }
    let mut written = store.write(vec![row("written", 10)]);
    assert!(poll!(&mut written).is_pending());
    other.shutdown_background();
    let _ = release.send(());
    written.await.unwrap();
    assert_eq!(ids(&store).await, ["written"]);
}

// A panic in a change fails every change of its transaction, and later changes succeed.
#[tokio::test]
async fn panic_in_a_change_rolls_its_transaction_back() {
    let (_folder, _file, store) = store().await;
    let (release, held) = holding(&store);
    let held = tokio::spawn(held);
    while !store.writer.has_members() {
        tokio::task::yield_now().await;
    }
    let mut written = store.write(vec![row("written", 10)]);
    let mut panics = Box::pin(store.change::<()>(|_| panic!("the change panicked")));
    let mut later = store.write(vec![row("later", 10)]);
    assert!(poll!(&mut written).is_pending());
    assert!(poll!(&mut panics).is_pending());
    assert!(poll!(&mut later).is_pending());
    release.send(()).unwrap();
    assert!(held.await.unwrap_err().is_panic());
    let text = written.await.unwrap_err().to_string();
    assert!(text.contains("rolled back"), "{text}");
    assert!(panics.await.is_err());
    later.await.unwrap();
    assert_eq!(ids(&store).await, ["later"]);
}

// `close` waits for the running transaction, whose changes are stored.
#[tokio::test]
async fn close_waits_for_the_transaction() {
    let (_folder, file, store) = store().await;
    let (release, held) = holding(&store);
    let mut held = Box::pin(held);
    until_open(&store, &mut held).await;
    let mut written = store.write(vec![row("written", 10)]);
    assert!(poll!(&mut written).is_pending());
    let mut close = Box::pin(store.clone().close());
    assert!(poll!(&mut close).is_pending());
    release.send(()).unwrap();
    let (held, written, ()) = futures::join!(held, written, close);
    held.unwrap();
    written.unwrap();
    assert!(store.write(vec![row("late", 10)]).await.is_err());
    let later = SqliteStore::open(&file).await.unwrap();
    assert_eq!(ids(&later).await, ["written"]);
}
