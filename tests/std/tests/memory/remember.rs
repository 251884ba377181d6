//! The `remember` tool.

use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use serde_json::{Value, json};
use tool_core::ToolError;
use tool_core::store::{MemoryFilter, MemoryRow, MemorySource, MemoryStore, Scope};
use tool_std::memory::{Durability, Heuristic, ImportanceScorer, Memory, MemoryType};

use super::support::{Subjects, call, context, found, memories, new_memory, remembered};

async fn rows(memory: &Memory) -> Vec<MemoryRow> {
    let filter = MemoryFilter::default();
    let rows = memory.store().list_memories(Scope::All, &filter).await;
    rows.unwrap()
}

// S2-31: the caller passes no importance, and the stored row has one from 0 to 1.
#[tokio::test]
async fn importance_is_computed() {
    for memory in memories().await {
        let cx = context(&memory, "a");
        for (content, memory_type, durability) in [
            (
                "Ada must never eat nuts: allergic, urgent, 112",
                "preference",
                "core",
            ),
            ("They talked", "interaction", "ephemeral"),
            ("Berlin is a city", "fact", "standard"),
        ] {
            let arguments =
                json!({ "content": content, "memory_type": memory_type, "durability": durability });
            let output = call(&cx, "remember", arguments).await.unwrap();
            let importance = output["importance"].as_f64().unwrap();
            assert!((0.0..=1.0).contains(&importance), "{output}");
        }
        let rows = rows(&memory).await;
        assert_eq!(rows.len(), 3);
        let importance = |content: &str| {
            let row = rows.iter().find(|row| row.content.starts_with(content));
            row.unwrap().importance.value()
        };
        assert!(
            importance("Ada") > importance("Berlin") && importance("Berlin") > importance("They")
        );
        assert!(rows.iter().all(|row| row.source == MemorySource::Model));
    }
}

/// A scorer that returns one value.
struct Fixed(f64);

impl ImportanceScorer for Fixed {
    fn importance<'a>(
        &'a self,
        _: &'a str,
        _: MemoryType,
        _: Durability,
    ) -> BoxFuture<'a, Result<f64, ToolError>> {
        async {
            if (self.0 - 0.123).abs() < f64::EPSILON {
                return Err(ToolError::unavailable("the scorer"));
            }
            Ok(self.0)
        }
        .boxed()
    }
}

// S2-31: whatever a scorer of the host returns, the stored importance is from 0 to 1.
#[tokio::test]
async fn importance_of_a_scorer_is_limited() {
    for (returned, stored) in [
        (7.0, 1.0),
        (-1.0, 0.0),
        (0.25, 0.25),
        (f64::NAN, 0.5),
        (f64::INFINITY, 1.0),
        (0.123, 0.5),
    ] {
        let memory = Memory::new(MemoryStore::default()).scorer(Fixed(returned));
        let output = remembered(&context(&memory, "a"), "tea", "org").await;
        assert_eq!(output["importance"], json!(stored), "{returned}");
    }
    let types = [MemoryType::Preference, MemoryType::Interaction];
    for (memory_type, durability) in types
        .into_iter()
        .zip([Durability::Core, Durability::Ephemeral])
    {
        let score = Heuristic::score("must 1 never", memory_type, durability);
        assert!((0.0..=1.0).contains(&score));
    }
}

// S2-46: content that is remembered twice is stored in one row.
#[tokio::test]
async fn same_content_is_one_row() {
    for memory in memories().await {
        let cx = context(&memory, "a");
        let first = remembered(&cx, "Ada likes tea.", "agent").await;
        let second = remembered(&cx, " ada likes TEA", "agent").await;
        assert_eq!(
            (&first["event"], &second["event"]),
            (&json!("add"), &json!("update"))
        );
        assert_eq!(
            (&first["id"], rows(&memory).await.len()),
            (&second["id"], 1)
        );
        // The same content in the scope of the organization is a separate memory.
        let shared = remembered(&cx, "Ada likes tea.", "org").await;
        assert_eq!(
            (&shared["event"], rows(&memory).await.len()),
            (&json!("add"), 2)
        );
    }
}

// With an embedder, a similar content updates the nearest memory, and 16 concurrent calls store one memory.
#[tokio::test]
async fn similar_content_updates_a_memory() {
    for memory in memories().await {
        let memory = memory.embedder(Subjects);
        let cx = Arc::new(context(&memory, "a"));
        let calls = (0..16).map(|number| {
            let cx = Arc::clone(&cx);
            async move {
                remembered(
                    &cx,
                    &format!("Ada likes tea, she said it {number} times"),
                    "org",
                )
                .await
            }
        });
        let events = futures::future::join_all(calls).await;
        let added = events
            .iter()
            .filter(|output| output["event"] == "add")
            .count();
        assert_eq!((added, rows(&memory).await.len()), (1, 1));
        remembered(&cx, "Ada lives in Berlin", "org").await;
        assert_eq!(rows(&memory).await.len(), 2);
    }
}

// The default scope is the calling agent, or the organization if the agent has no name. An agent without a name cannot use the scope `agent`.
#[tokio::test]
async fn scope_is_the_own_one_by_default() {
    for memory in memories().await {
        call(
            &context(&memory, "a"),
            "remember",
            json!({ "content": "tea" }),
        )
        .await
        .unwrap();
        assert_eq!(rows(&memory).await[0].scope.to_string(), "org:acme:agent:a");
        let nameless = context(&memory, "");
        call(&nameless, "remember", json!({ "content": "milk" }))
            .await
            .unwrap();
        let own = json!({ "content": "milk", "scope": "agent" });
        let error = call(&nameless, "remember", own).await.unwrap_err();
        assert!(error.contains("use the scope `org`"), "{error}");
        let scopes: Vec<_> = rows(&memory)
            .await
            .iter()
            .map(|row| row.scope.to_string())
            .collect();
        assert!(scopes.contains(&"org:acme".to_owned()) && scopes.len() == 2);
    }
}

// The memory records the user and the conversation, so that they can be erased, and no secret of the context.
#[tokio::test]
async fn row_has_its_origin_and_no_secret() {
    for memory in memories().await {
        let cx = context(&memory, "a").derive();
        let cx = cx.secret("api_key", "sk-very-secret-0815").build();
        remembered(&cx, "The key is sk-very-secret-0815", "org").await;
        let rows = rows(&memory).await;
        assert_eq!(
            (
                rows[0].principal.as_deref(),
                rows[0].conversation.as_deref()
            ),
            (Some("ann"), Some("main"))
        );
        assert!(!rows[0].content.contains("0815"), "{}", rows[0].content);
    }
}

// What a model repeats from a page does not replace what the user said: the similar content is a separate memory.
#[tokio::test]
async fn content_of_a_model_does_not_replace_content_of_a_user() {
    for memory in memories().await {
        let memory = memory.embedder(Subjects);
        let said = new_memory("The budget is 5000", MemorySource::User);
        memory.store().remember(said).await.unwrap();
        memory.embed_missing(&"acme".into(), 10).await.unwrap();
        // The model repeats a page, so its source is the model.
        remembered(&context(&memory, "a"), "The budget is 1", "org").await;
        let contents = found(&context(&memory, "a"), "budget").await;
        assert_eq!(contents.len(), 2);
        assert!(contents.contains(&"The budget is 5000".to_owned()));
    }
}

// Memories that were stored without an embedder get their vectors later, even after an interruption.
#[tokio::test]
async fn missing_vectors_are_computed_in_steps() {
    for memory in memories().await {
        let cx = context(&memory, "a");
        for content in ["Ada likes tea", "Ada lives in Berlin", "Ada drives a car"] {
            remembered(&cx, content, "org").await;
        }
        assert!(memory.embed_missing(&"acme".into(), 10).await.is_err());
        let memory = memory.embedder(Subjects);
        let mut steps = Vec::new();
        loop {
            let step = memory
                .clone()
                .embed_missing(&"acme".into(), 2)
                .await
                .unwrap();
            if step == 0 {
                break;
            }
            steps.push(step);
        }
        assert_eq!(steps, [2, 1]);
        assert_eq!(
            memory.embed_missing(&"umbrella".into(), 2).await.unwrap(),
            0
        );
        assert_eq!(
            found(&context(&memory, "a"), "vehicle").await[0],
            "Ada drives a car"
        );
        let _: Value = remembered(&context(&memory, "a"), "Ada drives a car", "org").await;
        assert_eq!(memory.embed_missing(&"acme".into(), 2).await.unwrap(), 0);
    }
}
