//! Turns of `tool-core` on each store: the messages that they store in a thread, and the runs that drive the thread.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod drive;
mod messages;

use tool_core::store::{ThreadId, Workspace};

/// Generates each test for each store. A new store needs a line here.
macro_rules! each_store {
    ($($(#[doc = $doc:literal])* #[test] async fn $name:ident($store:ident: $bound:ty) $body:block)+) => {
        $($(#[doc = $doc])* mod $name {
            use super::*;

            async fn property($store: $bound) $body

            crate::on! { memory, _folder, tool_core::store::MemoryStore::default() }
            crate::on! { sqlite, folder, tool_store::SqliteStore::open(folder.path().join("state.db")).await.unwrap() }
        })+
    };
}
use each_store;

/// Runs a test on a store, which may use an empty folder.
macro_rules! on {
    ($name:ident, $folder:ident, $store:expr) => {
        #[tokio::test(flavor = "multi_thread")]
        async fn $name() {
            let $folder = tempfile::tempdir().unwrap();
            property($store).await;
        }
    };
}
use on;

fn acme() -> Workspace {
    Workspace::new("acme")
}

/// Returns the id of a conversation of `acme`.
fn thread(conversation: &str) -> ThreadId {
    ThreadId::new("acme", conversation).unwrap()
}
