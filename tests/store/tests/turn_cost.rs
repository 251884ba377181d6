//! The number of disk transactions of turns and calls.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test fails by panicking, and spawns its own tasks"
)]

#[path = "../../../crates/tool-store/src/sqlite/wal.rs"]
mod wal;

use std::path::PathBuf;

use futures::future::BoxFuture;
use tempfile::TempDir;
use tool_core::prelude::*;
use tool_core::turn::{Model, ModelMessage, ModelRequest, Outcome, Turns};
use tool_core::{Audit, Effect, Gate, Sweeper};
use tool_store::SqliteStore;
use wal::commits;

/// The host value of tools that write.
#[derive(Clone)]
struct Outbox;
tool_core::host_value!(Outbox, Effect::WRITE);

/// Reads a page.
#[tool(read_only)]
async fn page(
    /// The number of the page.
    number: u32,
) -> u32 {
    number
}

/// Sends a message.
#[tool]
async fn send(
    _outbox: &Outbox,
    /// The recipient of the message.
    to: String,
) -> String {
    to
}

/// A host that stores its ledger and a required audit in one file.
struct Host {
    /// The temporary folder, which is removed on drop.
    _folder: TempDir,
    file: PathBuf,
    store: SqliteStore,
    gate: Gate,
}

impl Host {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("state.db");
        let store = SqliteStore::open(&file).await.unwrap();
        let gate = Gate::builder()
            .ledger(store.clone())
            .audit(Audit::required(store.clone()))
            .sweeper(Sweeper::off())
            .build();
        Self {
            _folder: folder,
            file,
            store,
            gate,
        }
    }
}

struct Script(Vec<ModelMessage>);

impl Model for Script {
    fn next<'a>(
        &'a mut self,
        _: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelMessage, ToolError>> {
        let message = self.0.remove(0);
        Box::pin(std::future::ready(Ok(message)))
    }
}

// A turn has two reads, one effect, six messages and a required audit. With sequential calls, it needs seven transactions: the user's message and the
// start of the run; the model's message; the intent of the first read; twice the end of a read and the next intent; the end of the effect; the last message
// and the end of the run. If the reads run in parallel, one transaction writes their intents, and one writes their ends and the intent of the effect.
#[tokio::test]
async fn turn_of_three_calls_costs_seven_commits_or_six_with_parallel_reads() {
    assert_eq!(cost(1).await, 7);
    assert_eq!(cost(2).await, 6);
}

async fn cost(parallel: usize) -> usize {
    let host = Host::new().await;
    let cx = ToolContext::builder()
        .workspace("acme")
        .user("ann")
        .conversation("main")
        .with(Outbox)
        .build();
    let tools = toolset![page, send].through(&host.gate);
    let turns = Turns::new(host.store.clone()).parallel(parallel);
    let script = || {
        let calls = [
            ToolCall::new("a", "page", r#"{"number":1}"#),
            ToolCall::new("b", "page", r#"{"number":2}"#),
            ToolCall::new("c", "send", r#"{"to":"bob"}"#),
        ];
        Script(vec![ModelMessage::calls(calls), ModelMessage::text("done")])
    };
    let before = commits(&host.file);
    let mut model = script();
    let said = turns.respond("Read both and send.", &mut model, |_| tools.clone(), &cx);
    let said = said.await;
    assert!(
        matches!(said, Ok(Outcome::Answered(_) | Outcome::Replied(_))),
        "{said:?}"
    );
    let cost = commits(&host.file) - before;
    host.store.close().await;
    cost
}

// A single call with an effect and a required audit row costs two transactions, for its intent and for its end, each with the audit row.
// Concurrent calls that wait for the database share transactions.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_calls_share_commits() {
    assert_eq!(calls(1).await, 2);
    let together = calls(64).await;
    assert!(
        together * 5 <= 64,
        "{together} transactions for 64 calls at once"
    );
}

/// Returns the number of transactions that this many concurrent calls need.
async fn calls(callers: usize) -> usize {
    let host = Host::new().await;
    let cx = ToolContext::builder()
        .workspace("acme")
        .with(Outbox)
        .build();
    let tools = toolset![send].through(&host.gate);
    let before = commits(&host.file);
    let calls = (0..callers).map(|n| {
        let (tools, cx) = (tools.clone(), cx.clone());
        tokio::spawn(async move {
            let call = ToolCall::new(format!("c{n}"), "send", r#"{"to":"bob"}"#);
            tools.call(call, &cx).await
        })
    });
    for result in futures::future::join_all(calls).await {
        assert_eq!(result.unwrap().model_text(), "bob");
    }
    let cost = commits(&host.file) - before;
    host.store.close().await;
    cost
}
