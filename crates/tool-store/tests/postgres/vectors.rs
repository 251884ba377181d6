//! Tests of searches for similar embeddings in large scopes, with and without an index of pgvector.

use std::time::Instant;

use sqlx::Executor as _;
use sqlx::postgres::PgConnection;
use test_support::Ran;
use tool_store::*;

use crate::database::Database;
use crate::large_scopes::{
    DIMENSIONS, Filled, LARGE, acme, agent, database, embedding, index_is_used, models, nearest,
    new, scans,
};

// S2-29, S2-47: a scope of 10 embeddings is searched exactly next to a large scope of similar embeddings, with and without the index, even after ten
// searches in the large scope on the same connection. `TOOL_TEST_MEMORIES` sets the number of embeddings in the large scope. It is 29,990 by default,
// to keep the test short.
pub(crate) async fn small_scope_is_searched_exactly_next_to_a_large_one_case() -> Ran {
    let database = database().await?;
    let count = std::env::var("TOOL_TEST_MEMORIES").map_or(29_990, |count| count.parse().unwrap());
    database.options().open().await.unwrap().close().await;
    let mut connection = database.connect().await;
    let large = Filled::new(&mut connection, "large", "model", count).await;
    let small = Filled::new(&mut connection, "small", "model", 10).await;
    let began = Instant::now();
    let store = database.options().connections(1).open().await.unwrap();
    println!("{count} codes were computed in {:?}", began.elapsed());
    for is_indexed in [false, true] {
        if is_indexed {
            let began = Instant::now();
            assert_eq!(
                models(store.index_memories().await.unwrap()),
                [("model".to_owned(), 64)]
            );
            println!(
                "the index of {count} embeddings was created in {:?}",
                began.elapsed()
            );
        }
        let began = Instant::now();
        let recall = large.recall(&store, "model").await;
        println!(
            "recall@10 {recall}, {:?} for each search, index: {is_indexed}",
            began.elapsed() / 20
        );
        assert!(recall > 0.95, "{recall}");
        for number in 0..20 {
            let vector = embedding("model", 1_000_000 + number, DIMENSIONS);
            assert_eq!(
                nearest(&store, &agent("small"), &vector).await,
                small.exact(&vector)
            );
        }
        assert_eq!(scans(&mut connection).await > 0, is_indexed);
    }
    // A similar content is found among all embeddings of the scope.
    let twin = MemoryVector::new("model", large.vectors[777].values().to_vec()).unwrap();
    let updated = store
        .remember(new(agent("large"), "twin", twin.clone()))
        .await
        .unwrap();
    assert_eq!(
        (updated.event, updated.memory.id.as_str()),
        (MemoryEvent::Update, "large 777")
    );
    assert_eq!(nearest(&store, &agent("large"), &twin).await[0], "twin");
    index_is_used(&store, &mut connection, &agent("large"), &twin).await;
    Ok(())
}

// S2-29, S2-47: in a large scope with an index, embeddings of a different model, number of dimensions, agent or workspace are not found, and neither
// are replaced and removed embeddings.
pub(crate) async fn models_and_dimensions_are_not_mixed_in_a_large_scope_case() -> Ran {
    let database = database().await?;
    database.options().open().await.unwrap().close().await;
    let mut connection = database.connect().await;
    let large = Filled::new(&mut connection, "large", "old", LARGE).await;
    let store = database.options().open().await.unwrap();
    assert_eq!(
        models(store.index_memories().await.unwrap()),
        [("old".to_owned(), 64)]
    );
    let (reader, other) = (agent("large"), Workspace::new("umbrella"));
    let query = embedding("old", 1_000_000, DIMENSIONS);
    let best = large.exact(&query);
    assert_eq!(nearest(&store, &reader, &query).await[0], best[0]);
    // The search of the agent must find the last of these memories, and not the memories of a different workspace, a different agent, a different
    // number of dimensions or a different model.
    let shared = MemoryScope::shared(&acme());
    let umbrella = MemoryScope::agent(&other, "large").unwrap();
    let short = MemoryVector::new("old", query.values()[..32].to_vec()).unwrap();
    let new_model = MemoryVector::new("new", query.values().to_vec()).unwrap();
    for (scope, content, vector) in [
        (umbrella.clone(), "of another workspace", query.clone()),
        (agent("other"), "of another agent", query.clone()),
        (reader.clone(), "of other dimensions", short.clone()),
        (reader.clone(), "of another model", new_model.clone()),
        (shared, "of all agents", query.clone()),
    ] {
        let added = store.remember(new(scope, content, vector)).await.unwrap();
        assert_eq!(added.event, MemoryEvent::Add);
    }
    let found = nearest(&store, &reader, &query).await;
    assert_eq!(found[0], "of all agents");
    assert!(
        found[1..]
            .iter()
            .all(|content| content.starts_with("large ")),
        "{found:?}"
    );
    assert_eq!(
        nearest(&store, &umbrella, &query).await,
        ["of another workspace"]
    );
    assert_eq!(
        nearest(&store, &reader, &short).await,
        ["of other dimensions"]
    );
    assert_eq!(
        nearest(&store, &reader, &new_model).await,
        ["of another model"]
    );

    // One memory has a new model, one is removed, and one has a new content without an embedding.
    let row = async |content: &str| store.memory(&acme(), content).await.unwrap().unwrap();
    let first = row(&best[0]).await;
    let moved =
        MemoryVector::new("new", embedding("old", 3, DIMENSIONS).values().to_vec()).unwrap();
    assert!(
        store
            .embed_memory(&acme(), &first.id, &first.hash, &moved)
            .await
            .unwrap()
    );
    assert!(store.remove_memory(&acme(), &best[1]).await.unwrap());
    let correction = MemoryCorrection {
        content: Some("corrected".to_owned()),
        ..MemoryCorrection::default()
    };
    store
        .correct_memory(&acme(), &best[2], &correction)
        .await
        .unwrap();
    let left = nearest(&store, &reader, &query).await;
    assert!(
        best[..3].iter().all(|content| !left.contains(content))
            && !left.contains(&"corrected".to_owned())
    );
    assert!(left.contains(&best[3]));
    let mut renewed = nearest(&store, &reader, &new_model).await;
    renewed.sort();
    assert_eq!(renewed, [best[0].as_str(), "of another model"]);
    Ok(())
}

// Each embedding is replaced in a separate step, so a different process can continue an interrupted replacement and does not begin again. The index
// of the old model is removed at the end.
pub(crate) async fn interrupted_change_of_the_model_is_continued_case() -> Ran {
    let database = database().await?;
    database.options().open().await.unwrap().close().await;
    let mut connection = database.connect().await;
    Filled::new(&mut connection, "large", "old", LARGE).await;
    let store = database.options().open().await.unwrap();
    assert_eq!(
        models(store.index_memories().await.unwrap()),
        [("old".to_owned(), 64)]
    );
    let vector = embedding("new", 1_000_000, DIMENSIONS);
    let embed = async |store: &PostgresStore, count: usize| {
        let left = store
            .memories_to_embed(&acme(), "new", u32::MAX)
            .await
            .unwrap();
        for memory in left.iter().take(count) {
            assert!(
                store
                    .embed_memory(&acme(), &memory.id, &memory.hash, &vector)
                    .await
                    .unwrap()
            );
        }
        left.len()
    };
    assert_eq!(embed(&store, 20).await, LARGE);
    store.close().await;
    let later = database.options().open().await.unwrap();
    assert_eq!(embed(&later, 20).await, LARGE - 20);
    assert_eq!(embed(&later, 0).await, LARGE - 40);
    let (old, new) = (embedding("old", 1_000_000, DIMENSIONS), vector);
    assert_eq!(nearest(&later, &agent("large"), &old).await.len(), 10);
    assert_eq!(nearest(&later, &agent("large"), &new).await.len(), 10);
    connection
        .execute("UPDATE tool_store.memory_vector SET model = 'new'")
        .await
        .unwrap();
    assert_eq!(
        models(later.index_memories().await.unwrap()),
        [("new".to_owned(), 64)]
    );
    let indexes: i64 = sqlx::query_scalar(
        "SELECT count(*) FROM pg_class WHERE relname LIKE 'memory\\_vector\\_hnsw%'",
    )
    .fetch_one(&mut connection)
    .await
    .unwrap();
    assert_eq!(indexes, 1);
    Ok(())
}

// Embeddings that an earlier version of the program stored or replaced have no code: they are found, and get their codes when a store is opened.
pub(crate) async fn embeddings_without_a_code_are_found_case() -> Ran {
    let database = Database::create().await?;
    let store = database.options().open().await.unwrap();
    let mut connection = database.connect().await;
    let filled = Filled::new(&mut connection, "large", "model", 3_000).await;
    let missing =
        "SELECT count(*) FROM tool_store.memory_vector WHERE code IS NULL OR dimensions IS NULL";
    let missing = async |connection: &mut PgConnection| {
        sqlx::query_scalar::<_, i64>(missing)
            .fetch_one(connection)
            .await
            .unwrap()
    };
    assert_eq!(missing(&mut connection).await, 3_000);
    let query = embedding("model", 1_000_000, DIMENSIONS);
    assert_eq!(
        nearest(&store, &agent("large"), &query).await,
        filled.exact(&query)
    );
    let later = database.options().open().await.unwrap();
    assert_eq!(missing(&mut connection).await, 0);
    assert_eq!(
        nearest(&later, &agent("large"), &query).await,
        filled.exact(&query)
    );
    // The statement of the earlier version replaces only the embedding.
    let swap = "UPDATE tool_store.memory_vector v SET model = o.model, vector = o.vector FROM tool_store.memory_vector o \
                WHERE v.seq = (SELECT max(seq) FROM tool_store.memory_vector) AND o.seq = (SELECT min(seq) FROM tool_store.memory_vector)";
    connection.execute(swap).await.unwrap();
    assert_eq!(missing(&mut connection).await, 1);
    let first = embedding("model", 0, DIMENSIONS);
    let found = nearest(&store, &agent("large"), &first).await;
    // Of memories with equal embeddings, the newest is the first.
    assert_eq!(found[..2], ["large 2999", "large 0"]);
    // A search reports bytes that are not a vector, and a store with such bytes can be opened.
    connection.execute("UPDATE tool_store.memory_vector SET vector = '\\x00' WHERE seq = (SELECT min(seq) FROM tool_store.memory_vector)").await.unwrap();
    let later = database.options().open().await.unwrap();
    assert_eq!(missing(&mut connection).await, 1);
    let query = MemoryQuery {
        text: String::new(),
        types: Vec::new(),
        limit: 10,
        now: Timestamp::from_millis(200),
    };
    let error = later
        .nearest_memories(&agent("large"), &first, &query)
        .await
        .unwrap_err();
    assert!(matches!(error, StoreError::Corrupt(_)), "{error:?}");
    Ok(())
}
