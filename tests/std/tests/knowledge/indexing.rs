//! The worker that indexes documents, with faults at each step.

use std::time::Duration;

use tokio::time::timeout;
use tool_std::knowledge::Knowledge;

use crate::faults::{Fault, FaultyStore};
use crate::support::Desk;

const LEASE: Duration = Duration::from_millis(200);

fn desk() -> (FaultyStore, Desk) {
    let store = FaultyStore::default();
    let desk = Desk::of(Knowledge::new(store.clone()), "acme");
    (store, desk)
}

// writeKnowledge: the index is asynchronous: a running indexer finds new documents without being called.
#[tokio::test]
async fn running_indexer_indexes_new_documents() {
    let desk = Desk::new();
    let task = tokio::spawn(desk.knowledge.indexer().poll(Duration::from_mins(1)).run());
    for word in ["apples", "pears"] {
        desk.write(&format!("{word}.md"), word).await;
        let found = timeout(Duration::from_secs(10), async {
            while desk.search(word).await.is_empty() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        });
        found.await.unwrap();
    }
    task.abort();
}

// After a failure of the store at any step, a later run finishes the index, and the document is found exactly once.
#[tokio::test]
async fn failed_steps_are_repeated() {
    for fault in [
        Fault::ClaimFails,
        Fault::FinishFails,
        Fault::FinishLosesItsResult,
    ] {
        let (store, desk) = desk();
        desk.write("a.md", "apples").await;
        store.set(Some(fault));
        let indexer = desk.knowledge.indexer().lease(LEASE);
        assert!(indexer.run_once().await.is_err(), "{fault:?}");
        store.set(None);
        timeout(Duration::from_secs(10), async {
            while desk.search("apples").await.is_empty() {
                indexer.run_once().await.unwrap();
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        })
        .await
        .unwrap();
        assert_eq!(desk.search("apples").await, ["a.md"], "{fault:?}");
        assert_eq!(desk.get("a.md").await["status"], "indexed", "{fault:?}");
    }
}

// A worker that stops in the middle of a document, here by a dropped future, is replaced when its lease expires.
#[tokio::test]
async fn document_of_a_stopped_worker_is_taken_over() {
    let (store, desk) = desk();
    desk.write("a.md", "apples").await;
    store.set(Some(Fault::FinishHangs));
    let indexer = desk.knowledge.indexer().lease(LEASE);
    assert!(timeout(LEASE / 2, indexer.run_once()).await.is_err());
    store.set(None);
    assert!(
        !indexer.run_once().await.unwrap(),
        "the lease has not expired"
    );
    tokio::time::sleep(LEASE).await;
    assert!(indexer.run_once().await.unwrap());
    assert_eq!(desk.search("apples").await, ["a.md"]);
}

// A slow worker keeps its document, because it extends the lease.
#[tokio::test]
async fn lease_of_a_slow_worker_is_extended() {
    let (store, desk) = desk();
    desk.write("a.md", "apples").await;
    store.set(Some(Fault::FinishTakes(LEASE * 3)));
    let slow = desk.knowledge.indexer().lease(LEASE);
    let task = tokio::spawn(async move { slow.run_once().await.unwrap() });
    let other = desk.knowledge.indexer().lease(LEASE);
    for _ in 0..10 {
        tokio::time::sleep(LEASE / 5).await;
        assert!(!other.run_once().await.unwrap());
    }
    assert!(task.await.unwrap());
    assert_eq!(desk.search("apples").await, ["a.md"]);
}

// If the lease cannot be extended, another worker takes the document over, and the document is indexed once.
#[tokio::test]
async fn worker_that_loses_its_lease_changes_nothing() {
    let (store, desk) = desk();
    desk.write("a.md", "apples").await;
    store.set(Some(Fault::FinishHangs));
    let slow = desk.knowledge.indexer().lease(LEASE);
    let task = tokio::spawn(async move { slow.run_once().await.unwrap() });
    tokio::time::sleep(LEASE / 4).await;
    store.set(Some(Fault::ExtendFails));
    let other = desk.knowledge.indexer().lease(LEASE);
    timeout(Duration::from_secs(10), async {
        while !other.run_once().await.unwrap() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await
    .unwrap();
    assert_eq!(desk.search("apples").await, ["a.md"]);
    // When the store works again, the first worker learns that its lease is lost, and stops.
    store.set(None);
    assert!(
        timeout(Duration::from_secs(10), task)
            .await
            .unwrap()
            .unwrap()
    );
    assert_eq!(desk.get("a.md").await["status"], "indexed");
}

// A document that is written while it is indexed is indexed again with its new content.
#[tokio::test]
async fn write_during_the_index_is_indexed_again() {
    let (store, desk) = desk();
    desk.write("a.md", "apples").await;
    store.set(Some(Fault::FinishTakes(Duration::from_millis(100))));
    let indexer = desk.knowledge.indexer();
    let (done, _) = tokio::join!(indexer.run_until_idle(), async {
        tokio::time::sleep(Duration::from_millis(30)).await;
        desk.write("a.md", "pears").await
    });
    assert_eq!(done.unwrap(), 2);
    assert_eq!(
        (
            desk.search("pears").await.len(),
            desk.search("apples").await.len()
        ),
        (1, 0)
    );
}
