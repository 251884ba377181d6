//! The contract of the store traits, tested on the memory store and on a SQLite file.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::needless_pass_by_value,
    reason = "a test fails by panicking, its helpers take what a call returned"
)]
#![allow(
    clippy::disallowed_methods,
    reason = "tests read the real clock and spawn their own tasks"
)]

mod approval;
mod audit;
mod catalogue;
mod identity;
mod journal;
mod ledger;
mod maintenance;
mod property;
mod records;
mod run;
mod spill;
mod switch;
mod thread;
mod workspaces;

/// Turns each test into two: `memory` and `sqlite`.
macro_rules! both {
    ($($(#[doc = $doc:literal])* #[test] async fn $name:ident($store:ident: $bound:ty) $body:block)+) => {
        $($(#[doc = $doc])* mod $name {
            use super::*;

            async fn property($store: $bound) $body

            #[tokio::test(flavor = "multi_thread")]
            async fn memory() {
                property(tool_store::MemoryStore::default()).await;
            }

            #[tokio::test(flavor = "multi_thread")]
            async fn sqlite() {
                let folder = tempfile::tempdir().unwrap();
                let store = tool_store::SqliteStore::open(folder.path().join("state.db")).await.unwrap();
                property(store.clone()).await;
                store.close().await;
            }
        })+
    };
}
use both;

/// Runs `work` in 32 parallel tasks, and returns their results.
async fn at_once<T: Send + 'static, F>(work: impl Fn(u32) -> F) -> Vec<T>
where
    F: Future<Output = T> + Send + 'static,
{
    let tasks: Vec<_> = (0..32).map(|task| tokio::spawn(work(task))).collect();
    let mut said = Vec::new();
    for task in tasks {
        said.push(task.await.unwrap());
    }
    said
}

/// Asserts that the store refused with a conflict whose text contains `words`.
fn conflict<T: std::fmt::Debug>(answer: Result<T, tool_store::StoreError>, words: &str) {
    match answer {
        Err(tool_store::StoreError::Conflict(text)) if text.contains(words) => {}
        other => panic!("expected a conflict about `{words}`, got {other:?}"),
    }
}

/// Asserts that the store reported a missing row.
fn missing<T: std::fmt::Debug>(answer: Result<T, tool_store::StoreError>) {
    assert!(
        matches!(answer, Err(tool_store::StoreError::Missing(_))),
        "expected a missing row, got {answer:?}"
    );
}
