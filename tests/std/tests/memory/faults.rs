//! Tests of the memory tools with stores and services that fail.

use futures::FutureExt as _;
use futures::future::BoxFuture;
use serde_json::{Value, json};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _, Executor as _};
use tool_core::ToolError;
use tool_std::memory::{Memory, Reranker};
use tool_store::SqliteStore;

use super::support::{Broken, Subjects, call, contents, context, found, memories, remembered};

async fn search(memory: &Memory, query: &str) -> Result<Value, String> {
    let cx = context(memory, "a");
    call(&cx, "search_memory", json!({ "query": query })).await
}

// If the embedder fails, a content is stored without its vector and found by its words, with a note; the vector is added later.
#[tokio::test]
async fn failed_embedder_leaves_the_search_by_words() {
    for memory in memories().await {
        let broken = memory.clone().embedder(Broken);
        let stored = remembered(&context(&broken, "a"), "Ada likes tea", "org").await;
        assert_eq!(stored["event"], "add");
        assert!(stored["note"].as_str().unwrap().contains("by its words"));
        let output = search(&broken, "tea").await.unwrap();
        assert_eq!(contents(&output, "content"), ["Ada likes tea"]);
        let note = output["note"].as_str().unwrap();
        assert!(note.contains("search by meaning failed"), "{note}");
        let working = memory.embedder(Subjects);
        assert_eq!(working.embed_missing(&"acme".into(), 10).await.unwrap(), 1);
        let output = search(&working, "beverage").await.unwrap();
        assert_eq!(
            (contents(&output, "content").len(), &output["note"]),
            (1, &Value::Null)
        );
    }
}

// If the full-text index is damaged, the results of the search by meaning have a note; if both searches fail, the call fails.
#[tokio::test]
async fn failed_index_leaves_the_search_by_meaning() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("state.db");
    let by_words = Memory::new(SqliteStore::open(&file).await.unwrap());
    let memory = by_words.clone().embedder(Subjects);
    remembered(&context(&memory, "a"), "Ada likes tea", "org").await;
    let mut connection = SqliteConnectOptions::new()
        .filename(&file)
        .connect()
        .await
        .unwrap();
    connection
        .execute("DROP TABLE memory_text_idx")
        .await
        .unwrap();
    connection.close().await.unwrap();
    let output = search(&memory, "tea").await.unwrap();
    assert_eq!(contents(&output, "content"), ["Ada likes tea"]);
    let note = output["note"].as_str().unwrap();
    assert!(note.contains("search by words failed"), "{note}");
    for failing in [by_words.clone(), by_words.embedder(Broken)] {
        let error = search(&failing, "tea").await.unwrap_err();
        assert!(
            error.contains("try again later") && !error.contains("memory_text"),
            "{error}"
        );
    }
}

/// A reranker that ranks longer texts first, or fails.
struct Longest(bool);

impl Reranker for Longest {
    fn rerank<'a>(
        &'a self,
        _: &'a str,
        texts: &'a [String],
    ) -> BoxFuture<'a, Result<Vec<f64>, ToolError>> {
        async move {
            if !self.0 {
                return Err(ToolError::unavailable("the reranker"));
            }
            let lengths = texts.iter().map(|text| u32::try_from(text.len()).unwrap());
            Ok(lengths.map(f64::from).collect())
        }
        .boxed()
    }
}

// A reranker orders the results; in fast mode it is skipped, and if it fails, the results keep their order and have a note.
#[tokio::test]
async fn reranker_is_skipped_in_fast_mode_or_reported() {
    for memory in memories().await {
        let cx = context(&memory, "a");
        remembered(&cx, "tea", "org").await;
        remembered(&cx, "tea in the afternoon with biscuits", "org").await;
        let order = found(&cx, "tea").await;
        assert_eq!(order[0], "tea");
        let ranked = memory.clone().reranker(Longest(true));
        assert_eq!(found(&context(&ranked, "a"), "tea").await[0], order[1]);
        assert_eq!(
            found(&context(&ranked.fast_mode(true), "a"), "tea").await,
            order
        );
        let output = search(&memory.reranker(Longest(false)), "tea")
            .await
            .unwrap();
        assert_eq!(contents(&output, "content"), order);
        assert!(output["note"].as_str().unwrap().contains("ranked again"));
    }
}
