//! The contracts of the tools: schemas, effects, limits and the category.

use serde_json::json;
use tool_core::prelude::*;
use tool_core::testing::{assert_kept, violations};
use tool_core::{Dialects, ToolDef};
use tool_std::memory::{memory_block, remember, search_conversation, search_memory};

use super::support::{call, context, memories};

fn tools() -> [ToolDef; 4] {
    [
        search_memory::DEF,
        remember::DEF,
        memory_block::DEF,
        search_conversation::DEF,
    ]
}

// The schemas are strict in all dialects, and each tool has at least two examples.
#[test]
fn memory_tools_pass_the_test_kit() {
    assert_kept(&tools(), &violations);
    for tool in &tools() {
        assert!(tool.examples().len() >= 2);
        assert_eq!(tool.providers(), Dialects::ALL);
        assert_eq!(tool.category(), "memory");
    }
}

// Searches only read; the other tools write.
#[test]
fn searches_are_read_only() {
    let read_only = tools().map(|tool| tool.hints().read_only);
    assert_eq!(read_only, [true, false, false, true]);
    assert!(tools().iter().all(|tool| !tool.hints().destructive));
}

// S2-29 to S2-32: arguments out of their limits are refused, and arguments at their limits are accepted.
#[tokio::test]
async fn limits_of_arguments_are_checked() {
    for memory in memories().await {
        let cx = context(&memory, "sales");
        for (tool, arguments) in [
            ("search_memory", json!({ "query": "" })),
            ("search_memory", json!({ "query": "x", "limit": 0 })),
            ("search_memory", json!({ "query": "x", "limit": 21 })),
            ("search_memory", json!({ "query": "x", "types": ["rumor"] })),
            ("remember", json!({ "content": "x".repeat(2_001) })),
            ("remember", json!({ "content": " " })),
            ("remember", json!({ "content": "x", "importance": 1 })),
            (
                "remember",
                json!({ "content": "x", "memory_type": "rumor" }),
            ),
            ("memory_block", json!({ "note": "x".repeat(501) })),
            ("memory_block", json!({ "note": "\n" })),
            (
                "search_conversation",
                json!({ "query": "x", "roles": ["tool"] }),
            ),
            ("search_conversation", json!({ "query": "x", "limit": 21 })),
        ] {
            let refused = call(&cx, tool, arguments.clone()).await;
            assert!(refused.is_err(), "{tool} {arguments}");
        }
        for (tool, arguments) in [
            (
                "search_memory",
                json!({ "query": "x".repeat(1_000), "limit": 20, "types": [] }),
            ),
            ("remember", json!({ "content": "ü".repeat(2_000) })),
            ("memory_block", json!({ "note": "ü".repeat(500) })),
            (
                "search_conversation",
                json!({ "query": "x", "roles": [], "limit": 20 }),
            ),
        ] {
            call(&cx, tool, arguments).await.unwrap();
        }
    }
}

// A context without a store makes the tools unavailable.
#[tokio::test]
async fn tools_need_a_memory() {
    let cx = ToolContext::builder().workspace("acme").build();
    let error = call(&cx, "search_memory", json!({ "query": "x" })).await;
    assert!(error.unwrap_err().contains("not available"));
}
