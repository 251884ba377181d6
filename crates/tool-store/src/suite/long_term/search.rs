//! Tests of the search by words, and of the scopes of all searches.

use crate::*;

use super::super::tests;
use super::{Memories, add, agent, fact, found, near, query, shared, with_vector};

tests! {
    ($) __suite_long_term_search in long_term for Memories;

    // S2-29, S2-47: a search returns shared memories of the workspace and memories of the reader's agent, and no memory of a different agent or
    // workspace.
    #[test]
    async fn reader_finds_shared_and_own_memories_only(store: impl Memories) {
        let store = &store;
        let umbrella = MemoryScope::shared(&Workspace::new("umbrella"));
        // The names of these workspaces look like scopes of the workspace `acme`.
        let odd = MemoryScope::agent(&Workspace::new("acme:agent"), "a").unwrap();
        for (scope, content) in [
            (&shared(), "tea is shared"), (&agent("a"), "tea of a"), (&agent("b"), "tea of b"), (&umbrella, "tea of umbrella"), (&odd, "odd tea"),
            (&MemoryScope::shared(&Workspace::new("acme:agent:a")), "other tea"),
        ] {
            add(store, with_vector(scope, content, [1.0, 0.0, 0.0])).await;
        }
        for (reader, expected) in [
            (agent("a"), vec!["tea is shared", "tea of a"]),
            (agent("b"), vec!["tea is shared", "tea of b"]),
            (agent("c"), vec!["tea is shared"]),
            (shared(), vec!["tea is shared"]),
            (umbrella, vec!["tea of umbrella"]),
            (odd, vec!["odd tea"]),
        ] {
            let mut words = found(store, &reader, "tea").await;
            let mut vectors = near(store, &reader, [1.0, 0.0, 0.0]).await;
            words.sort();
            vectors.sort();
            assert_eq!(words, expected, "{reader}");
            assert_eq!(vectors, expected, "{reader}");
        }
    }

    // A search applies the scope and the types before the limit: newer memories of other scopes and types do not hide the wanted memories, even after
    // searches in the other scopes on the same connection.
    #[test]
    async fn scope_and_types_are_applied_before_the_limit(store: impl Memories) {
        let store = &store;
        for number in 0..3 {
            add(store, fact(&agent("b"), &format!("tea {number}"))).await;
            let preference = NewMemory { memory_type: MemoryType::Preference, ..fact(&agent("a"), &format!("tea with milk {number}")) };
            add(store, preference).await;
        }
        for number in 0..300 {
            add(store, fact(&agent("a"), &format!("more tea {number}"))).await;
        }
        for _ in 0..10 {
            assert_eq!(found(store, &agent("a"), "tea").await.len(), 10);
        }
        assert_eq!(found(store, &agent("b"), "tea").await.len(), 3);
        let preferences = MemoryQuery { types: vec![MemoryType::Preference, MemoryType::UserRequest], ..query("tea") };
        let hits = store.search_memories(&agent("a"), &preferences).await.unwrap();
        assert_eq!(hits.len(), 3);
        assert!(hits.iter().all(|hit| hit.memory.memory_type == MemoryType::Preference));
        let hits = store.search_memories(&agent("a"), &MemoryQuery { limit: 2, ..query("tea") }).await.unwrap();
        assert_eq!(hits.len(), 2);
    }

    // The memory with the rare word is the best result, in Latin, Chinese and Thai script, and also if the query contains operators. A query without
    // known words finds nothing.
    #[test]
    async fn memories_are_found_by_their_words(store: impl Memories) {
        let store = &store;
        for content in ["The user drinks coffee", "The user drinks marmalade tea in the morning", "The user works in Berlin", "我在上海喝咖啡", "ฉันชอบกาแฟ"] {
            add(store, fact(&shared(), content)).await;
        }
        let best = async |text: &str| found(store, &shared(), text).await.first().cloned().unwrap_or_default();
        assert_eq!(best("where does the user drink MARMALADE?").await, "The user drinks marmalade tea in the morning");
        assert_eq!(best("咖啡").await, "我在上海喝咖啡");
        assert_eq!(best("กาแฟ").await, "ฉันชอบกาแฟ");
        assert_eq!(best("berlin\" OR 'x' NEAR(").await, "The user works in Berlin");
        for nothing in ["", "*", "\"", "-- ", "unknown", "labels:fact", "NEAR(", "'\\"] {
            assert_eq!(best(nothing).await, "", "{nothing}");
        }
        let hits = store.search_memories(&shared(), &query("user tea")).await.unwrap();
        assert!(hits.windows(2).all(|pair| pair[0].score >= pair[1].score) && hits.len() == 3);
    }
}
