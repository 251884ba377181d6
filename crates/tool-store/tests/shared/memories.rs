//! Tests of searches in a large table of memories, for each database.

use tool_store::*;

/// Returns the scope of an agent of `acme`.
pub(crate) fn scope(agent: &str) -> MemoryScope {
    MemoryScope::agent(&Workspace::new("acme"), agent).unwrap()
}

/// Stores a memory in the scope of an agent.
pub(crate) async fn remember(store: &impl LongTermStore, agent: &str, content: &str) {
    let new = NewMemory {
        scope: scope(agent),
        content: content.to_owned(),
        memory_type: MemoryType::Fact,
        durability: Durability::Core,
        importance: Importance::new(0.5).unwrap(),
        source: MemorySource::User,
        principal: None,
        conversation: None,
        vector: None,
        at: Timestamp::from_millis(100),
    };
    store.remember(new).await.unwrap();
}

/// Stores the memory of the large scope that is then copied.
pub(crate) async fn remember_one(store: &impl LongTermStore) {
    remember(store, "large", "The user drinks tea").await;
}

/// Returns the number of memories that a search in the scope of an agent finds.
async fn search(store: &impl LongTermStore, agent: &str, text: &str) -> usize {
    let query = MemoryQuery {
        text: text.to_owned(),
        types: Vec::new(),
        limit: 20,
        now: Timestamp::from_millis(200),
    };
    let found = store.search_memories(&scope(agent), &query).await.unwrap();
    assert!(found.iter().all(|hit| hit.memory.scope == scope(agent)));
    found.len()
}

/// Stores 10 memories of a small scope, and searches in both scopes. The bench `memories` measures how long such searches take.
pub(crate) async fn small_scope_is_found(store: &impl LongTermStore) {
    for number in 0..10 {
        remember(store, "small", &format!("The user drinks tea {number}")).await;
    }
    for _ in 0..10 {
        assert_eq!(
            search(store, "large", "what does the user drink? tea").await,
            20
        );
    }
    assert_eq!(search(store, "large", "tea word50000").await, 20);
    assert_eq!(
        search(store, "small", "what does the user drink? tea").await,
        10
    );
}
