//! The `search_memory` tool.

use serde_json::{Value, json};
use tool_core::store::MemorySource;

use super::support::{
    Subjects, call, contents, context, context_in, found, memories, new_memory, remembered,
};

// S2-29, S2-47: a search finds memories of the organization and of the own agent, and none of another agent or organization.
#[tokio::test]
async fn search_covers_the_organization_and_the_own_agent() {
    for memory in memories().await {
        for memory in [memory.clone(), memory.embedder(Subjects)] {
            let [a, b] = ["a", "b"].map(|agent| context(&memory, agent));
            let foreign = context_in(&memory, "umbrella", "a", "main");
            remembered(&a, "Tea is shared by all", "org").await;
            remembered(&a, "Tea of agent a in Berlin", "agent").await;
            remembered(&b, "Tea of agent b drives a car", "agent").await;
            remembered(&foreign, "Tea of umbrella", "org").await;
            for (cx, expected) in [
                (&a, vec!["Tea is shared by all", "Tea of agent a in Berlin"]),
                (
                    &b,
                    vec!["Tea is shared by all", "Tea of agent b drives a car"],
                ),
                (&context(&memory, "c"), vec!["Tea is shared by all"]),
                (&context(&memory, ""), vec!["Tea is shared by all"]),
                (&foreign, vec!["Tea of umbrella"]),
            ] {
                let mut found = found(cx, "tea").await;
                found.sort();
                assert_eq!(found, expected);
            }
        }
    }
}

// S2-29: results have all attributes, and the author of their content.
#[tokio::test]
async fn results_have_attributes_and_provenance() {
    for memory in memories().await {
        let cx = context(&memory, "a");
        // The host stores what a tool read.
        let page = new_memory("A page says that Ada prefers coffee", MemorySource::Tool);
        memory.store().remember(page).await.unwrap();
        let arguments = json!({ "content": "Ada prefers tea", "memory_type": "preference", "durability": "core" });
        let stored = call(&cx, "remember", arguments).await.unwrap();
        let output = call(&cx, "search_memory", json!({ "query": "Ada prefers" })).await;
        let output = output.unwrap();
        assert_eq!(
            (&output["query"], &output["count"]),
            (&json!("Ada prefers"), &json!(2))
        );
        assert_eq!(output["note"], Value::Null);
        let [first, second] = &**output["results"].as_array().unwrap() else {
            panic!("{output}")
        };
        assert_eq!(first["id"], stored["id"]);
        assert_eq!(first["importance"], stored["importance"]);
        for (field, value) in [
            ("content", "Ada prefers tea"),
            ("memory_type", "preference"),
            ("durability", "core"),
            ("scope", "agent"),
            ("source", "model"),
        ] {
            assert_eq!(first[field], json!(value));
        }
        assert_eq!(
            (&second["source"], &second["scope"]),
            (&json!("tool"), &json!("org"))
        );
        let created = first["created_at"].as_str().unwrap();
        assert!(
            created.starts_with("20") && created.ends_with('Z'),
            "{created}"
        );
        let score = first["score"].as_f64().unwrap();
        assert!(score > 0.0 && (score * 10_000.0).fract() == 0.0, "{score}");
    }
}

// The types narrow a search, and the limit is 5 by default.
#[tokio::test]
async fn types_and_limit_narrow_a_search() {
    for memory in memories().await {
        let cx = context(&memory, "a");
        for number in 0..7 {
            remembered(&cx, &format!("Fact {number} about tea"), "org").await;
        }
        let interest = json!({ "content": "Interest in tea", "memory_type": "interest" });
        call(&cx, "remember", interest).await.unwrap();
        let search = async |arguments| call(&cx, "search_memory", arguments).await.unwrap();
        assert_eq!(search(json!({ "query": "tea" })).await["count"], 5);
        assert_eq!(
            search(json!({ "query": "tea", "limit": 20 })).await["count"],
            8
        );
        let interests = search(json!({ "query": "tea", "types": ["interest", "entity"] })).await;
        assert_eq!(contents(&interests, "content"), ["Interest in tea"]);
        let all = search(json!({ "query": "tea", "types": null, "limit": 8 })).await;
        assert_eq!(all["count"], 8);
        assert_eq!(search(json!({ "query": "unknown" })).await["count"], 0);
    }
}

// With an embedder, a memory without words of the query is found by its meaning, and a memory that both searches find comes first.
#[tokio::test]
async fn searches_by_words_and_by_meaning_are_fused() {
    for memory in memories().await {
        let by_words = context(&memory, "a");
        let cx = context(&memory.clone().embedder(Subjects), "a");
        remembered(&cx, "Ada likes green tea", "org").await;
        remembered(&cx, "Ada lives in Berlin", "org").await;
        remembered(&cx, "The budget of the project is 5000", "org").await;
        assert_eq!(found(&by_words, "favourite beverage").await, [""; 0]);
        assert_eq!(
            found(&cx, "favourite beverage").await[0],
            "Ada likes green tea"
        );
        assert_eq!(
            found(&cx, "in which city is Ada at home?").await[0],
            "Ada lives in Berlin"
        );
        let all = found(&cx, "money").await;
        assert_eq!(
            (all.len(), all[0].as_str()),
            (3, "The budget of the project is 5000")
        );
    }
}

// S2-29: an ephemeral memory ranks after a core memory with the same words.
#[tokio::test]
async fn core_memory_ranks_before_an_ephemeral_memory() {
    for memory in memories().await {
        let cx = context(&memory, "a");
        for (content, durability) in [
            ("Ada drinks tea A", "ephemeral"),
            ("Ada drinks tea B", "core"),
        ] {
            let arguments = json!({ "content": content, "durability": durability });
            call(&cx, "remember", arguments).await.unwrap();
        }
        assert_eq!(
            found(&cx, "tea").await,
            ["Ada drinks tea B", "Ada drinks tea A"]
        );
    }
}
