//! Tests of the storage of memories: equal and similar contents, their sources, and their decay.

use std::time::Duration;

use crate::*;

use super::super::records::{acme, at};
use super::super::{conflict, tests};
use super::{
    Memories, add, agent, all, contents, fact, found, near, query, shared, vector, with_vector,
};

tests! {
    ($) __suite_long_term in long_term for Memories;

    // S2-46: a content that is stored twice is one row, and the second call updates the row.
    #[test]
    async fn same_content_is_stored_once(store: impl Memories) {
        let store = &store;
        let first = add(store, fact(&shared(), "Ada likes tea.")).await;
        let again = NewMemory {
            importance: Importance::new(0.75).unwrap(),
            durability: Durability::Core,
            principal: None,
            at: at(300),
            ..fact(&shared(), "  ada likes\nTEA ")
        };
        let again = store.remember(again).await.unwrap();
        assert_eq!((again.event, &again.memory.id), (MemoryEvent::Update, &first.id));
        let expected = MemoryRow {
            importance: Importance::new(0.75).unwrap(), durability: Durability::Core, principal: None, updated: at(300), ..first.clone()
        };
        assert_eq!(again.memory, expected);
        // A weaker repetition does not weaken the memory.
        store.remember(fact(&shared(), "Ada likes tea")).await.unwrap();
        let stored = store.memory(&acme(), &first.id).await.unwrap().unwrap();
        assert_eq!((stored.importance.value(), stored.durability, stored.updated), (0.75, Durability::Core, at(300)));
        assert_eq!(all(store).await.len(), 1);
        // Each scope has its own memory.
        add(store, fact(&agent("a"), "Ada likes tea.")).await;
        assert_eq!(all(store).await.len(), 2);
    }

    // A similar content updates the memory with the largest cosine.
    #[test]
    async fn similar_content_updates_the_nearest_memory(store: impl Memories) {
        let store = &store;
        let tea = add(store, with_vector(&shared(), "Ada likes tea", [1.0, 0.0, 0.0])).await;
        add(store, with_vector(&shared(), "Ada lives in Rome", [0.7, 0.7, 0.0])).await;
        let green = with_vector(&shared(), "Ada likes green tea", [0.99, 0.1, 0.0]);
        let updated = store.remember(green).await.unwrap();
        assert_eq!((updated.event, &updated.memory.id), (MemoryEvent::Update, &tea.id));
        assert_eq!(found(store, &shared(), "green").await, ["Ada likes green tea"]);
        // The memory has the words and the vector of the new content.
        assert_eq!(found(store, &shared(), "tea").await.len(), 1);
        assert_eq!(near(store, &shared(), [0.99, 0.1, 0.0]).await.first().unwrap(), "Ada likes green tea");
        // A content is stored as a different memory if the cosine is 0.9 or less, if its scope is different, or if its vector is of a different
        // model.
        add(store, with_vector(&shared(), "Ada likes cake", [0.9, -0.6, 0.0])).await;
        add(store, with_vector(&agent("a"), "Ada likes green teas", [0.99, 0.1, 0.0])).await;
        let other = MemoryVector::new("other", vec![0.99, 0.1, 0.0]).unwrap();
        add(store, NewMemory { vector: Some(other), ..fact(&shared(), "Ada likes black tea") }).await;
        assert_eq!(all(store).await.len(), 5);
    }

    // The output of a tool does not replace the content of a model or a user.
    #[test]
    async fn less_trusted_content_replaces_nothing(store: impl Memories) {
        let store = &store;
        let said = NewMemory { source: MemorySource::User, ..with_vector(&shared(), "Pay to account 1", [1.0, 0.0, 0.0]) };
        let said = add(store, said).await;
        let page = NewMemory { source: MemorySource::Tool, ..with_vector(&shared(), "Pay to account 2", [1.0, 0.01, 0.0]) };
        let page = add(store, page).await;
        assert_eq!((said.source, page.source), (MemorySource::User, MemorySource::Tool));
        // If the same content is stored again, the memory keeps the most trusted source.
        let same = NewMemory { source: MemorySource::Tool, ..fact(&shared(), "Pay to account 1") };
        assert_eq!(store.remember(same).await.unwrap().memory.source, MemorySource::User);
    }

    // S2-46: core memories keep their weight, and other memories lose weight. After 30 days, ephemeral memories are not found, and a purge removes
    // them.
    #[test]
    async fn memories_decay_by_their_durability(store: impl Memories) {
        let store = &store;
        let of = |durability, content: &str| NewMemory { durability, ..with_vector(&shared(), content, [1.0, 0.0, 0.0]) };
        add(store, NewMemory { vector: None, ..of(Durability::Core, "tea core") }).await;
        add(store, NewMemory { vector: None, ..of(Durability::Standard, "tea standard") }).await;
        add(store, of(Durability::Ephemeral, "tea ephemeral")).await;
        let (day, retention) = (Duration::from_hours(24), Retention::default());
        let later = |days: u32| MemoryQuery { now: at(100).plus(day * days), ..query("tea") };
        let hits = store.search_memories(&shared(), &later(7)).await.unwrap();
        assert_eq!(contents(&hits), ["tea core", "tea standard", "tea ephemeral"]);
        assert!((hits[2].score / hits[0].score - 0.5).abs() < 0.01);
        let near = store.nearest_memories(&shared(), &vector([1.0, 0.0, 0.0]), &later(30)).await.unwrap();
        assert_eq!(contents(&near), ["tea ephemeral"]);
        assert_eq!(store.purge(&retention, later(30).now, 10).await.unwrap().memories, 0);
        for text in [true, false] {
            let hits = if text {
                store.search_memories(&shared(), &later(31)).await.unwrap()
            } else {
                store.nearest_memories(&shared(), &vector([1.0, 0.0, 0.0]), &later(31)).await.unwrap()
            };
            assert_eq!(hits.len(), if text { 2 } else { 0 });
        }
        let purged = store.purge(&retention, later(31).now, 10).await.unwrap();
        assert_eq!((purged.memories, purged.more), (1, false));
        assert_eq!(all(store).await.len(), 2);
        let old = store.search_memories(&shared(), &later(4_000)).await.unwrap();
        assert!((old[1].score / old[0].score - 0.5).abs() < 0.01, "a standard memory keeps one half");
    }

    // Faulty memories are refused, and odd texts are stored unchanged.
    #[test]
    async fn contents_are_checked_and_kept(store: impl Memories) {
        let store = &store;
        conflict(store.remember(fact(&shared(), " \n")).await, "is blank");
        let long = "x".repeat(NewMemory::MOST_BYTES + 1);
        conflict(store.remember(fact(&shared(), &long)).await, "write at most 16384");
        conflict(store.remember(NewMemory { principal: Some("a\0".to_owned()), ..fact(&shared(), "x") }).await, "NUL");
        conflict(MemoryScope::agent(&acme(), ""), "the agent's name");
        for value in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
            conflict(Importance::new(value), "from 0 to 1");
        }
        for values in [vec![], vec![0.0], vec![f32::NAN], vec![0.0; 9_000]] {
            conflict(MemoryVector::new("m", values), "use the vector of the model");
        }
        for content in ["tea 'x' \"y\" \\ % _", "tea\0tea", "🙂", "tea \u{202e}", &"tea ".repeat(4_000)] {
            let row = add(store, fact(&shared(), content)).await;
            assert_eq!(store.memory(&acme(), &row.id).await.unwrap().unwrap(), row);
            assert_eq!(row.content, content);
        }
        assert_eq!(found(store, &shared(), "tea").await.len(), 4);
    }
}
