//! Tools that call other tools.

use tool_core::prelude::*;
use tool_core::store::{AuditFilter, AuditSink, Scope};
use tool_core::turn::{ModelMessage, Turn, Turns};
use tool_core::{Effect, ErrorKind, Uses};

use crate::support::{Host, count, kind, pay, send_mail};

/// Calls `count` twice, and tries to call the undeclared tool `pay`.
#[tool]
async fn count_twice(#[context] uses: Uses<(count,)>) -> Result<u32, ToolError> {
    let first = uses.invoke(count { from: 3 }).await?;
    let second = uses
        .call(ToolCall::new("second", "count", r#"{"from":4}"#))
        .await;
    let refused = uses
        .call(ToolCall::new("third", "pay", r#"{"amount":1}"#))
        .await;
    assert_eq!(kind(&refused), Some(ErrorKind::UnknownTool));
    Ok(first + second.model_text().parse::<u32>().unwrap_or(0))
}

/// Pays an amount, and could also call `count`.
#[tool]
async fn spend(#[context] uses: Uses<(pay, count)>) -> Result<u32, ToolError> {
    uses.invoke(pay { amount: 5 }).await
}

// M4, M18: the effects of the tools that a tool may call are part of its own effect.
#[test]
fn nested_tools_add_to_the_effect_of_a_tool() {
    let tools = toolset![count_twice, spend, count, pay];
    assert_eq!(
        tools.get("count_twice").unwrap().effect(),
        tools.get("count").unwrap().effect()
    );
    assert!(tools.get("spend").unwrap().effect().contains(Effect::WRITE));
}

// M18: nested calls of a gated call pass the same gate, even if their toolset has no gate.
#[tokio::test]
async fn nested_calls_pass_the_gate_of_the_outer_call() {
    let host = Host::new();
    // The toolset of the inner tools has no gate.
    let inner = toolset![count, pay];
    let outer = toolset![count_twice, spend].through(&host.gate);
    let cx = ToolContext::builder()
        .workspace("acme")
        .with(host.mailbox.clone())
        .tools(&inner)
        .build();
    for (id, tool) in [("c-1", "count_twice"), ("c-2", "spend")] {
        let result = outer.call(ToolCall::new(id, tool, "{}"), &cx).await;
        assert!(!result.is_error(), "{result:?}");
    }
    let rows = AuditSink::export(&host.store, Scope::All, &AuditFilter::default())
        .await
        .unwrap();
    let of = |tool: &str| rows.iter().filter(|row| row.tool == tool).count();
    assert_eq!((of("count"), of("pay")), (2, 1), "{rows:#?}");
}

// S4-65: a tool can call only the tools that it declares. The nested calls pass the gate and are not stored as messages.
#[tokio::test]
async fn nested_call_passes_the_gate_and_is_not_a_message() {
    let host = Host::new();
    let tools = toolset![count_twice, count, pay, spend, send_mail].through(&host.gate);
    let cx = ToolContext::builder()
        .workspace("acme")
        .conversation("th-1")
        .with(host.mailbox.clone())
        .tools(&tools)
        .build();
    let message = ModelMessage::calls([
        ToolCall::new("c-1", "count_twice", "{}"),
        ToolCall::new("c-2", "spend", "{}"),
    ]);
    let turns = Turns::new(host.store.clone());
    let message = turns.record(message, &cx).await.unwrap();
    let turn = turns.run(&tools, &message, &cx).await.unwrap();
    let Turn::Complete(results) = turn else {
        panic!("{turn:?}")
    };
    assert_eq!(
        results
            .iter()
            .map(|result| result.text.as_str())
            .collect::<Vec<_>>(),
        ["7", "5"]
    );
    assert_eq!(host.mailbox.sent(), 1);
    let messages = tool_core::store::ThreadStore::read(&host.store, message.thread(), None)
        .await
        .unwrap();
    assert_eq!(
        messages.len(),
        3,
        "results of nested calls are not stored as messages"
    );
    let rows = AuditSink::export(&host.store, Scope::All, &AuditFilter::default())
        .await
        .unwrap();
    let of = |tool: &str| rows.iter().filter(|row| row.tool == tool).count();
    assert_eq!(
        (of("count"), of("pay"), of("spend"), of("count_twice")),
        (2, 1, 1, 1),
        "{rows:#?}"
    );
}
