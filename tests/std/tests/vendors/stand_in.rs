//! Helpers that the tests of all vendors share.

use serde_json::Value;
use tool_core::prelude::*;
use tool_core::store::{AuditFilter, AuditRow, AuditSink, MemoryStore, Scope};
use tool_core::{Audit, Gate};
use tool_std::vendor::Api;

use crate::support::{Seen, Server, response};

/// Returns the address of a server's API.
pub(crate) fn api(server: &Server, path: &str) -> Api {
    Api::at(server.url("127.0.0.1", path))
}

/// Returns a JSON response.
pub(crate) fn json(status: u16, body: &Value) -> Vec<u8> {
    let kind = ("content-type", "application/json; charset=utf-8");
    response(status, &[kind], body.to_string())
}

/// Returns the JSON body of a request, after checking that it is declared as JSON.
#[track_caller]
pub(crate) fn body(seen: &Seen) -> Value {
    assert_eq!(seen.header("content-type"), Some("application/json"));
    serde_json::from_str(&seen.body).unwrap()
}

pub(crate) async fn call(
    tools: &Toolset,
    cx: &ToolContext,
    tool: &str,
    arguments: &Value,
) -> CallResult {
    let call = ToolCall::new("c-1", tool, arguments.to_string());
    tools.call(call, cx).await
}

/// Calls a tool through a gate, and returns the audit row of the call.
pub(crate) async fn audited(
    tools: Toolset,
    cx: &ToolContext,
    tool: &str,
    arguments: &Value,
) -> AuditRow {
    let store = MemoryStore::default();
    let gate = Gate::builder()
        .audit(Audit::required(store.clone()))
        .build();
    let result = call(&tools.through(&gate), cx, tool, arguments).await;
    assert!(!result.is_error(), "{}", result.model_text());
    let rows = AuditSink::export(&store, Scope::All, &AuditFilter::default()).await;
    let mut rows = rows.unwrap();
    assert_eq!(rows.len(), 1, "{rows:?}");
    rows.remove(0)
}
