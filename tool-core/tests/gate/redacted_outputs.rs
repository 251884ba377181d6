//! Redaction of secrets in each output of a call.

use tool_core::prelude::*;
use tool_core::store::{AuditFilter, AuditRow, AuditSink, CallId, MemoryStore, Scope};
use tool_core::{Approvals, Audit, Gate};

mod cut;
mod host_secrets;
mod texts;

const KEY: &str = "tok-4711-abcdefghijklmnopqrstuvwxyz";

struct Host {
    store: MemoryStore,
    gate: Gate,
}

impl Host {
    fn new() -> Self {
        let store = MemoryStore::default();
        let gate = Gate::builder()
            .approvals(Approvals::builder(store.clone()).build().unwrap())
            .ledger(store.clone())
            .audit(Audit::required(store.clone()))
            .build();
        Self { store, gate }
    }

    async fn rows(&self) -> Vec<AuditRow> {
        AuditSink::export(&self.store, Scope::All, &AuditFilter::default())
            .await
            .unwrap()
    }
}

fn cx() -> tool_core::ToolContextBuilder {
    ToolContext::builder()
        .workspace("acme")
        .user("ann")
        .conversation("th-1")
}

/// Returns the context of the first call in a message of the thread.
fn in_message(cx: &ToolContext, message: u64) -> ToolContext {
    let thread = cx.thread().unwrap();
    cx.for_call(CallId::in_thread(&thread, message, 0))
}

fn with_key() -> ToolContext {
    cx().secret("key", SecretString::from(KEY)).build()
}

fn call(tool: &str) -> ToolCall {
    ToolCall::new("c-1", tool, "{}")
}

/// Fails if a text contains nine consecutive characters of the key.
#[track_caller]
fn clean(text: &str, what: &str) {
    for at in 0..=KEY.len() - 9 {
        assert!(!text.contains(&KEY[at..at + 9]), "{what}: {text}");
    }
}

/// Returns all texts of a result, joined.
fn texts(result: &CallResult) -> String {
    format!(
        "{} {} {} {result:?} {} {}",
        result.model_text(),
        result.envelope(),
        result.output().map_or("", |output| output.get()),
        result.error().map_or_else(String::new, |error| format!(
            "{} {error:?}",
            error.operator_text()
        )),
        serde_json::to_string(result.citations()).unwrap(),
    )
}
