//! Tests that approvals reported as void are void at the gate.

use serde_json::{Value, json};
use tool_core::store::MemoryStore;
use tool_core::{Approval, DynamicTool, Gate, Registry, Reply, ToolCall, ToolContext, ToolError};
use tool_schema::lock::{PendingApprovals, changes};

use crate::commands::lock::locked;

/// Returns a registry with one tool that needs approval.
fn release(description: &str, category: &str, most: u32) -> Option<Registry> {
    let schema = json!({
        "type": "object",
        "properties": {"n": {"type": "integer", "description": "How many.", "maximum": most}},
        "required": ["n"],
        "additionalProperties": false
    });
    let tool = DynamicTool::new("burn", description, schema, |said: Value, _cx| async move {
        Ok::<_, ToolError>(said)
    });
    let tool = tool.category(category).approval(Approval::Always);
    Registry::builder().dynamic(tool).build().ok()
}

/// Requests and approves a call with the tools of `before`. Returns whether the approval is valid with the tools of `now`.
async fn holds(before: &Registry, now: &Registry) -> Option<bool> {
    let approvals = tool_core::Approvals::builder(MemoryStore::default())
        .build()
        .ok()?;
    let gate = Gate::builder().approvals(approvals.clone()).build();
    let cx = ToolContext::builder().user("ann").build();
    let tools = before.open().through(&gate);
    let asked = tools
        .call(ToolCall::new("c", "burn", r#"{"n":1}"#), &cx)
        .await;
    let ticket = asked.tickets().first()?;
    approvals
        .answer(
            &cx.own_workspace(),
            &tools,
            &ticket.token,
            Reply::Approve,
            "bob",
            None,
        )
        .await
        .ok()?;
    let tools = now.open().through(&gate);
    Some(!tools.resume(&ticket.token, &cx).await.is_error())
}

// M3: approvals that are reported as void are refused by the gate, and the others are accepted.
#[test]
fn approvals_reported_void_are_refused_and_the_others_run() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_time()
        .build();
    let (Ok(runtime), Some(before)) = (runtime, release("Burns it.", "fire", 9)) else {
        unreachable!("a runtime and a registry are made")
    };
    let told = |now: &Registry| {
        changes(&locked(&before).tools, &locked(now).tools)
            .iter()
            .all(|change| change.approvals == PendingApprovals::Hold)
    };
    for (now, expected) in [
        (release("Burns it.", "fire", 9), true),
        (release("Burns it.", "other", 9), true),
        (release("Burns it all.", "fire", 9), false),
        (release("Burns it.", "fire", 8), false),
        (release("Burns it.", "fire", 10), false),
    ] {
        let held = now
            .as_ref()
            .and_then(|now| runtime.block_on(holds(&before, now)));
        assert_eq!(held, Some(expected));
        assert_eq!(now.as_ref().map(told), Some(expected));
    }
}
