//! Turns of `tool-core` on each store: the messages that they store in a thread, and the runs that drive the thread.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::wildcard_imports,
    reason = "a test fails by panicking, and uses many records"
)]

mod aliases;
mod drive;
mod messages;

use std::process::ExitCode;

use test_support::Suite;
use tool_core::store::{ThreadId, Workspace};

/// Generates each test for each store, and `cases`, which adds them to a suite. A new store requires a line here.
macro_rules! each_store {
    ($($(#[doc = $doc:literal])* #[test] async fn $name:ident($store:ident: $bound:ty) $body:block)+) => {
        $($(#[doc = $doc])* mod $name {
            use super::*;

            async fn property($store: $bound) $body

            crate::on! { memory, _folder => tool_core::store::MemoryStore::default() }
            crate::on! { sqlite, folder => tool_store::SqliteStore::open(folder.path().join("state.db")).await.unwrap() }
            crate::on! { sealing, folder => crate::sealing(folder.path()).await }
            #[cfg(unix)]
            crate::on! { postgres, _folder => crate::postgres().await? }
        })+

        pub(crate) fn cases(mut suite: test_support::Suite) -> test_support::Suite {
            $(
                suite = suite
                    .case(&crate::name(module_path!(), concat!(stringify!($name), "::memory")), $name::memory)
                    .case(&crate::name(module_path!(), concat!(stringify!($name), "::sqlite")), $name::sqlite)
                    .case(&crate::name(module_path!(), concat!(stringify!($name), "::sealing")), $name::sealing);
                #[cfg(unix)]
                {
                    suite = suite
                        .case(&crate::name(module_path!(), concat!(stringify!($name), "::postgres")), $name::postgres);
                }
            )+
            suite
        }
    };
}
use each_store;

/// Runs a test on a store, which may use an empty folder.
macro_rules! on {
    ($name:ident, $folder:ident => $store:expr) => {
        pub(super) async fn $name() -> test_support::Ran {
            let $folder = tempfile::tempdir().unwrap();
            property($store).await;
            Ok(())
        }
    };
}
use on;

fn main() -> ExitCode {
    let suite = Suite::new(env!("CARGO_CRATE_NAME"));
    messages::cases(drive::cases(aliases::cases(suite))).run()
}

/// Returns the name of a test, which is its path in this program.
fn name(module: &str, test: &str) -> String {
    let (_, module) = module.split_once("::").unwrap();
    format!("{module}::{test}")
}

/// Opens a store on a SQLite file that seals messages and arguments.
async fn sealing(folder: &std::path::Path) -> tool_store::SqliteStore {
    use tool_store::seal::{SealKey, SealKeys, Vault};

    let store = tool_store::SqliteStore::open(folder.join("state.db"))
        .await
        .unwrap();
    let keys = SealKeys::new("k1", SealKey::generate().unwrap()).unwrap();
    let vault = Vault::open(store.clone(), keys).await.unwrap();
    store.sealing(&vault).unwrap()
}

/// Opens a store in a new database. It compares leases with the times that the tests pass, not with the clock of the server.
#[cfg(unix)]
async fn postgres() -> Result<tool_store::PostgresStore, test_support::Missing> {
    use tool_store::PostgresStore;

    let migrate = async |url: &str| PostgresStore::open(url).await.unwrap().close().await;
    let url = test_support::postgres::migrated_database(migrate).await?;
    let options = tool_store::PostgresOptions::new(&url).unwrap();
    let options = options.clock(tool_store::PostgresClock::Caller);
    Ok(options.open().await.unwrap())
}

fn acme() -> Workspace {
    Workspace::new("acme")
}

/// Returns the id of a conversation of `acme`.
fn thread(conversation: &str) -> ThreadId {
    ThreadId::new("acme", conversation).unwrap()
}
