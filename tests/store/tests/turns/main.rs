//! Turns of `tool-core` on each store: what they leave in a thread, and who drives it.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod drive;
mod messages;

use tool_core::store::{ThreadId, Workspace};

/// Turns each test into two: `memory` and `sqlite`.
macro_rules! both {
    ($($(#[doc = $doc:literal])* #[test] async fn $name:ident($store:ident: $bound:ty) $body:block)+) => {
        $($(#[doc = $doc])* mod $name {
            use super::*;

            async fn property($store: $bound) $body

            #[tokio::test(flavor = "multi_thread")]
            async fn memory() {
                property(tool_core::store::MemoryStore::default()).await;
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

fn acme() -> Workspace {
    Workspace::new("acme")
}

/// A conversation of `acme`.
fn thread(conversation: &str) -> ThreadId {
    ThreadId::new("acme", conversation).unwrap()
}
