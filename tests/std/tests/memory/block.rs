//! The `memory_block` tool.

use serde_json::{Value, json};
use tool_core::store::{NoteBlock, ThreadId};
use tool_std::memory::Memory;

use super::support::{call, context, context_in, memories};

async fn append(cx: &tool_core::ToolContext, note: &str) -> Value {
    call(cx, "memory_block", json!({ "note": note }))
        .await
        .unwrap()
}

async fn block(memory: &Memory, workspace: &str, conversation: &str) -> NoteBlock {
    let thread = ThreadId::new(workspace, conversation).unwrap();
    memory.block(&thread).await.unwrap()
}

// S2-32: two appends keep their order and the label of their author.
#[tokio::test]
async fn appends_keep_order_and_author() {
    for memory in memories().await {
        let first = append(&context(&memory, "planner"), "Ask Ada for the budget").await;
        let second = append(&context(&memory, "writer"), "The draft is done").await;
        assert_eq!(
            (&first["total_notes"], &second["total_notes"]),
            (&json!(1), &json!(2))
        );
        let block = block(&memory, "acme", "main").await;
        assert_eq!(
            block.to_string(),
            "[planner] Ask Ada for the budget\n[writer] The draft is done"
        );
        assert_eq!(second["chars"], json!(block.chars()));
        let labelled = memory.clone().label("Chief editor");
        append(&context(&labelled, "writer"), "Approved").await;
        let authors = self::block(&memory, "acme", "main").await.notes.into_iter();
        let authors: Vec<String> = authors.map(|note| note.author).collect();
        assert_eq!(authors, ["planner", "writer", "Chief editor"]);
    }
}

// S2-32: a block belongs to its conversation and its workspace.
#[tokio::test]
async fn blocks_of_conversations_are_separate() {
    for memory in memories().await {
        append(&context_in(&memory, "acme", "a", "main"), "one").await;
        append(&context_in(&memory, "acme", "a", "side"), "two").await;
        append(&context_in(&memory, "umbrella", "a", "main"), "three").await;
        for (workspace, conversation, text) in [
            ("acme", "main", "[a] one"),
            ("acme", "side", "[a] two"),
            ("umbrella", "main", "[a] three"),
            ("umbrella", "side", ""),
        ] {
            assert_eq!(
                block(&memory, workspace, conversation).await.to_string(),
                text
            );
        }
        let cx = context(&memory, "a").derive();
        let nowhere = tool_core::ToolContext::builder()
            .workspace("acme")
            .with(memory.clone())
            .build();
        let error = call(&nowhere, "memory_block", json!({ "note": "x" }))
            .await
            .unwrap_err();
        assert!(error.contains("there is no conversation"), "{error}");
        // Secrets of the context are not stored.
        append(
            &cx.secret("key", "sk-very-secret-0815").build(),
            "use sk-very-secret-0815",
        )
        .await;
        assert!(
            !block(&memory, "acme", "main")
                .await
                .to_string()
                .contains("0815")
        );
    }
}

// S2-32: a full block stays within its limit and keeps its newest notes.
#[tokio::test]
async fn oldest_notes_are_compacted() {
    for memory in memories().await {
        let cx = context(&memory, "a");
        for number in 0..60 {
            let state = append(&cx, &format!("note {number} {}", "x".repeat(480))).await;
            assert!(state["chars"].as_u64().unwrap() <= 4_000);
            assert_eq!(state["total_notes"], json!(number + 1));
        }
        let block = block(&memory, "acme", "main").await;
        assert!(block.removed > 0 && block.total() == 60);
        assert!(block.notes.last().unwrap().text.starts_with("note 59 "));
        assert!(block.notes.first().unwrap().shortened);
    }
}
