//! The three knowledge tools, as a model calls them.

use serde_json::{Value, json};
use tool_core::prelude::*;
use tool_core::store::{
    Document, DocumentName, DocumentWrite, DocumentWriteMode, Timestamp, Workspace,
};
use tool_core::{Effect, Rules};
use tool_std::knowledge::MOST_CALL_BYTES;

use crate::support::Desk;

// S1-47: `knowledge(false)` hides all three tools of the category.
#[test]
fn knowledge_off_hides_the_three_tools() {
    let registry = Registry::linked().unwrap();
    let names = |rules: &Rules| {
        let tools = registry.toolset(&ToolContext::anonymous(), rules);
        let names = ["search_knowledge", "get_knowledge", "write_knowledge"];
        names.map(|name| tools.get(name).is_some())
    };
    let rules = Rules::default();
    assert_eq!(names(&rules), [true; 3]);
    assert_eq!(names(&rules.knowledge(false)), [false; 3]);
    for tool in registry
        .tools()
        .iter()
        .filter(|tool| tool.name().ends_with("_knowledge"))
    {
        assert_eq!(tool.category(), "knowledge", "{}", tool.name());
        let writes = tool.name() == "write_knowledge";
        assert_eq!(
            tool.effect().contains(Effect::WRITE),
            writes,
            "{}",
            tool.name()
        );
    }
}

// searchKnowledge: a search with a query and a limit returns `found` and the results, best first. Each result has its content, score, file and chunk
// index. The default limit is 5.
#[tokio::test]
async fn search_returns_the_best_parts() {
    let desk = Desk::new();
    for number in 0..7 {
        desk.write(
            &format!("{number}.md"),
            &format!("Returns of shop {number} are free."),
        )
        .await;
    }
    desk.write(
        "long.md",
        &format!("{} The warranty lasts two years.", "filler ".repeat(500)),
    )
    .await;
    assert_eq!(
        desk.search("returns").await,
        [""; 0],
        "nothing is indexed yet"
    );
    assert_eq!(desk.index().await, 8);

    assert_eq!(desk.search("returns").await.len(), 5);
    let found = desk
        .ok(
            "search_knowledge",
            json!({"query": "warranty years", "limit": 1}),
        )
        .await;
    let result = &found["results"][0];
    assert_eq!(
        (&result["file"], &result["chunk_index"], &result["score"]),
        (&json!("long.md"), &json!(1), &json!(0.0328))
    );
    let content = result["content"].as_str().unwrap();
    assert!(
        content.ends_with("The warranty lasts two years.") && content.chars().count() <= 2_000,
        "{content}"
    );
    let all = desk
        .ok(
            "search_knowledge",
            json!({"query": "returns shop 3", "limit": 50}),
        )
        .await;
    assert_eq!(
        (
            all["results"].as_array().unwrap().len(),
            &all["results"][0]["file"]
        ),
        (7, &json!("3.md"))
    );

    assert_eq!(
        desk.ok("search_knowledge", json!({"query": "unicorn"}))
            .await,
        json!({"found": false, "results": [], "note": null})
    );
    assert_eq!(
        desk.ok("search_knowledge", json!({"query": "?!"})).await["found"],
        false
    );
    for arguments in [
        json!({"query": ""}),
        json!({"query": "x".repeat(1_001)}),
        json!({"query": "x", "limit": 0}),
        json!({"query": "x", "limit": 51}),
    ] {
        desk.fails("search_knowledge", arguments).await;
    }
    desk.ok("search_knowledge", json!({"query": "x".repeat(1_000)}))
        .await;
}

// searchKnowledge: each result is cited.
#[tokio::test]
async fn results_are_cited() {
    let desk = Desk::new();
    desk.write("returns.md", "Returns are free.").await;
    desk.index().await;
    let result = desk
        .result("search_knowledge", &json!({"query": "returns"}))
        .await;
    let cited: Vec<_> = result
        .citations()
        .iter()
        .map(|citation| (citation.source(), citation.source_id()))
        .collect();
    assert_eq!(cited, [("knowledge", "returns.md#0")]);
}

// searchKnowledge: a query in a script without spaces finds the words inside of sentences.
#[tokio::test]
async fn search_finds_chinese_and_thai_words() {
    let desk = Desk::new();
    desk.write("zh.md", "本店在上海,提供免费退货。").await;
    desk.write("th.md", "ร้านของเราอยู่ที่กรุงเทพ").await;
    desk.index().await;
    assert_eq!(desk.search("退货").await, ["zh.md"]);
    assert_eq!(desk.search("กรุงเทพ").await, ["th.md"]);
    assert_eq!(desk.search("东京").await, [""; 0]);
}

// getKnowledge: the name must match exactly, including upper and lower case. If no document has the name, the result is `found: false` and not an
// error.
#[tokio::test]
async fn document_is_read_by_its_exact_name() {
    let desk = Desk::new();
    desk.write("Returns.md", "Returns are free.").await;
    let read = desk.get("Returns.md").await;
    let updated = read["updated_at"].as_str().unwrap();
    assert!(updated.ends_with('Z') && updated.len() == 20, "{updated}");
    let expected = json!({
        "found": true, "file": "Returns.md", "content": "Returns are free.", "mime": "text/markdown", "size": 17, "source": "agent",
        "status": "pending", "error": null, "note": null, "updated_at": updated
    });
    assert_eq!(read, expected);
    desk.index().await;
    assert_eq!(desk.get("Returns.md").await["status"], "indexed");
    for file in ["returns.md", "Returns", "Returns.md ", "a\nb", "unknown"] {
        let missing = desk.get(file).await;
        assert!(
            missing
                .as_object()
                .unwrap()
                .iter()
                .all(|(key, value)| if key == "found" {
                    *value == json!(false)
                } else {
                    value.is_null()
                }),
            "{missing}"
        );
    }
}

// writeKnowledge: the actions are `write` and `append`, which adds a blank line before the new content. The result has `ok`, the document id,
// `created`, `reindex_scheduled` and the size. The default type is Markdown.
#[tokio::test]
async fn documents_are_written_and_extended() {
    let desk = Desk::new();
    let append = |content: &str, mime: Value| json!({"action": "append", "file": "a.txt", "content": content, "mime": mime});
    let first = desk
        .ok(
            "write_knowledge",
            append("one", json!("text/plain; charset=utf-8")),
        )
        .await;
    let id = first["document_id"].as_str().unwrap();
    assert!(!id.is_empty());
    assert_eq!(
        first,
        json!({"ok": true, "document_id": id, "created": true, "reindex_scheduled": true, "size": 3})
    );
    let second = desk.ok("write_knowledge", append("two", Value::Null)).await;
    assert_eq!(
        second,
        json!({"ok": true, "document_id": id, "created": false, "reindex_scheduled": true, "size": 8})
    );
    let read = desk.get("a.txt").await;
    assert_eq!(
        (&read["content"], &read["mime"]),
        (&json!("one\n\ntwo"), &json!("text/plain; charset=utf-8"))
    );
    assert_eq!(desk.index().await, 1, "two writes need one index");
    let replaced = desk.write("a.txt", "three").await;
    assert_eq!(
        (&replaced["document_id"], &replaced["size"]),
        (&json!(id), &json!(5))
    );
    let read = desk.get("a.txt").await;
    assert_eq!(
        (&read["content"], &read["mime"], &read["status"]),
        (&json!("three"), &json!("text/markdown"), &json!("pending"))
    );

    let text = desk
        .fails("write_knowledge", append("x", json!("text/html")))
        .await;
    assert!(text.contains("has the type `text/markdown`"), "{text}");
    let text = desk
        .fails(
            "write_knowledge",
            json!({"action": "write", "file": "a.pdf", "content": "x", "mime": "application/pdf"}),
        )
        .await;
    assert!(
        text.contains("`application/pdf` is not a text type"),
        "{text}"
    );
    for file in ["", " a", "a\u{7}", &"a".repeat(256)] {
        desk.fails(
            "write_knowledge",
            json!({"action": "write", "file": file, "content": "x"}),
        )
        .await;
    }
    desk.fails(
        "write_knowledge",
        json!({"action": "replace", "file": "a", "content": "x"}),
    )
    .await;
    assert_eq!(desk.get("a.txt").await["content"], "three");
}

// writeKnowledge: a call may contain 1 MiB, and a document 10 MiB. More is refused with the code DOCUMENT_SIZE_EXCEEDED.
#[tokio::test]
async fn documents_that_are_too_large_are_refused() {
    let desk = Desk::new();
    let size = |document: &Value| document["size"].as_u64().unwrap();
    let text = desk.fails("write_knowledge", json!({"action": "write", "file": "a.md", "content": "ü".repeat(MOST_CALL_BYTES / 2) + "x"})).await;
    assert!(
        text.starts_with("DOCUMENT_SIZE_EXCEEDED: the content has 1048577 bytes"),
        "{text}"
    );
    assert_eq!(desk.get("a.md").await["found"], false);
    assert_eq!(
        size(&desk.write("a.md", &"ü".repeat(MOST_CALL_BYTES / 2)).await),
        MOST_CALL_BYTES as u64
    );
    let append = |content: String| json!({"action": "append", "file": "a.md", "content": content});
    // Each append adds a blank line, which has two bytes.
    for _ in 0..8 {
        desk.ok("write_knowledge", append("x".repeat(MOST_CALL_BYTES - 2)))
            .await;
    }
    let text = desk
        .fails("write_knowledge", append("x".repeat(MOST_CALL_BYTES - 1)))
        .await;
    assert!(
        text.starts_with("DOCUMENT_SIZE_EXCEEDED: the document would have 10485761 bytes"),
        "{text}"
    );
    let last = desk
        .ok("write_knowledge", append("x".repeat(MOST_CALL_BYTES - 2)))
        .await;
    assert_eq!(size(&last), Document::MOST_BYTES);
    let text = desk.fails("write_knowledge", append(String::new())).await;
    assert!(text.starts_with("DOCUMENT_SIZE_EXCEEDED"), "{text}");
    assert_eq!(size(&desk.get("a.md").await), Document::MOST_BYTES);
}

// The documents of two workspaces with one file name are separate, for all tools.
#[tokio::test]
async fn workspaces_do_not_share_documents() {
    let desk = Desk::new();
    let other = Desk::of(desk.knowledge.clone(), "umbrella");
    let (one, two) = tokio::join!(
        desk.write("a.md", "our recipe"),
        other.write("a.md", "their recipe")
    );
    assert_eq!(
        (&one["created"], &two["created"]),
        (&json!(true), &json!(true))
    );
    assert_ne!(one["document_id"], two["document_id"]);
    assert_eq!(desk.index().await, 2);
    assert_eq!(desk.get("a.md").await["content"], "our recipe");
    assert_eq!(other.get("a.md").await["content"], "their recipe");
    assert_eq!(
        (
            desk.search("our").await.len(),
            desk.search("their").await.len(),
            other.search("their").await.len()
        ),
        (1, 0, 1)
    );
    let third = Desk::of(desk.knowledge.clone(), "third");
    assert_eq!(third.get("a.md").await["found"], false);
    assert_eq!(third.search("recipe").await, [""; 0]);
}

// Only the host can write documents that are not text. A document of an unsupported type has no content, and its indexing fails with a code, as for a
// text that is not UTF-8.
#[tokio::test]
async fn documents_of_unsupported_types_fail_with_a_code() {
    let desk = Desk::new();
    let write = |file: &str, mime: &str, content: &[u8]| DocumentWrite {
        name: DocumentName::new(&Workspace::new("acme"), file).unwrap(),
        mode: DocumentWriteMode::Replace,
        content: content.to_vec(),
        mime: Some(mime.to_owned()),
        source: "upload".to_owned(),
        principal: None,
        at: Timestamp::now(),
    };
    desk.knowledge
        .write(write("a.png", "image/png", b"\x89PNG"))
        .await
        .unwrap();
    desk.knowledge
        .write(write("a.txt", "text/plain", b"\xff\xfe"))
        .await
        .unwrap();
    desk.knowledge
        .write(write("a.json", "application/json", br#"{"key": "value"}"#))
        .await
        .unwrap();
    desk.index().await;
    let read = desk.get("a.png").await;
    assert_eq!(
        (&read["status"], &read["content"], &read["source"]),
        (&json!("failed"), &Value::Null, &json!("upload"))
    );
    assert!(
        read["error"]
            .as_str()
            .unwrap()
            .starts_with("UNSUPPORTED_TYPE: "),
        "{read}"
    );
    assert!(
        desk.get("a.txt").await["error"]
            .as_str()
            .unwrap()
            .starts_with("NOT_TEXT: ")
    );
    assert_eq!(desk.search("value").await, ["a.json"]);
}

#[tokio::test]
async fn search_is_unavailable_without_documents_in_the_context() {
    let tools = toolset![tool_std::knowledge::search_knowledge];
    let call = ToolCall::new("c", "search_knowledge", r#"{"query": "x"}"#);
    let result = tools.call(call, &ToolContext::anonymous()).await;
    assert_eq!(
        result.error().unwrap().kind(),
        tool_core::ErrorKind::Unavailable
    );
    assert!(
        result
            .error()
            .unwrap()
            .operator_text()
            .contains("`Knowledge`")
    );
}
