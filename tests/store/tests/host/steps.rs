//! The number of steps of a run whose tools fail.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tool_core::prelude::*;
use tool_core::store::{Role, ThreadId, ThreadStore};
use tool_core::turn::{ModelMessage, Outcome, Turns};
use tool_core::{CancellationToken, Effect, ErrorKind, Gate, Retry};
use tool_store::SqliteStore;

use crate::support::Script;

/// The number of runs of the body, for each kind of failure.
#[derive(Clone, Default)]
struct Begun(Arc<Mutex<BTreeMap<String, usize>>>);
tool_core::host_value!(Begun, Effect::READ);

/// Fails in the selected way.
#[tool(read_only, timeout = "100ms")]
async fn fail(
    begun: &Begun,
    /// The kind of failure: `panic`, `error`, `timeout` or `cancel`.
    way: String,
) -> Result<String, ToolError> {
    *begun.0.lock().unwrap().entry(way.clone()).or_default() += 1;
    match way.as_str() {
        "panic" => panic!("a bug"),
        "error" => Err(ToolError::new("the printer is out of paper")),
        _ => std::future::pending().await,
    }
}

const WAYS: [(&str, ErrorKind); 3] = [
    ("panic", ErrorKind::Panicked),
    ("error", ErrorKind::Failed),
    ("timeout", ErrorKind::TimedOut),
];

fn call(way: &str) -> ToolCall {
    ToolCall::new(way, "fail", format!(r#"{{"way":"{way}"}}"#))
}

async fn store(folder: &tempfile::TempDir) -> SqliteStore {
    let file = folder.path().join("state.db");
    SqliteStore::open(file).await.unwrap()
}

// S1-68: each failure is one message to the model and one step of the run, even if the gate retries the tool.
#[tokio::test]
async fn retries_do_not_count_as_steps() {
    for attempts in [1, 3] {
        let folder = tempfile::tempdir().unwrap();
        let store = store(&folder).await;
        let retry = Retry {
            attempts,
            wait: Duration::from_millis(1),
        };
        let gate = Gate::builder().ledger(store.clone()).retry(retry).build();
        let tools = toolset![fail].through(&gate);
        let begun = Begun::default();
        let cx = ToolContext::builder()
            .workspace("acme")
            .conversation("main")
            .with(begun.clone())
            .build();
        let messages = WAYS.map(|(way, _)| ModelMessage::calls([call(way)]));
        let mut model = Script::new(messages.to_vec());
        let turns = Turns::new(store.clone());
        let driven = turns.drive(&mut model, |_| tools.clone(), &cx);
        let outcome = driven.await.unwrap();
        assert!(matches!(outcome, Outcome::Answered(text) if text == "done"));
        // One request for each message, and one request with the last result.
        assert_eq!(model.requests(), WAYS.len() + 1, "{attempts}");
        let thread = ThreadId::new("acme", "main").unwrap();
        let messages = ThreadStore::read(&store, &thread, None).await.unwrap();
        let of = |role| messages.iter().filter(move |message| message.role == role);
        assert_eq!(of(Role::Assistant).count(), WAYS.len() + 1);
        assert_eq!(of(Role::Tool).count(), WAYS.len());
        let begun = begun.0.lock().unwrap().clone();
        assert_eq!(begun["error"], usize::try_from(attempts).unwrap());
        store.close().await;
    }
}

// S1-68: a panic, an error, a timeout and a cancelled call all return the envelope of a failure; the panic does not unwind, and no body runs twice.
#[tokio::test]
async fn every_failure_has_the_same_envelope() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder).await;
    let gate = Gate::builder().ledger(store.clone()).build();
    for tools in [toolset![fail], toolset![fail].through(&gate)] {
        for (way, expected) in WAYS.into_iter().chain([("cancel", ErrorKind::Cancelled)]) {
            let (begun, token) = (Begun::default(), CancellationToken::new());
            let cx = ToolContext::builder()
                .with(begun.clone())
                .cancellation(token.clone());
            let cx = cx.build();
            let cancel = async {
                while begun.0.lock().unwrap().is_empty() {
                    tokio::task::yield_now().await;
                }
                if way == "cancel" {
                    token.cancel();
                }
            };
            let (result, ()) = futures::future::join(tools.call(call(way), &cx), cancel).await;
            assert_eq!(result.error().unwrap().kind(), expected, "{way}");
            let envelope: serde_json::Value = serde_json::from_str(&result.envelope()).unwrap();
            assert_eq!(
                envelope,
                serde_json::json!({"success": false, "error": result.model_text()}),
                "{way}"
            );
            assert_eq!(begun.0.lock().unwrap()[way], 1, "{way}");
        }
    }
    store.close().await;
}
