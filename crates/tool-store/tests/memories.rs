//! Tests of memories in a large table on SQLite: a search finds the memories of a small scope next to a large scope.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions as _, Connection as _, QueryBuilder};
use tool_store::{
    LongTermStore, MemoryFilter, MemoryHit, MemoryQuery, MemoryVector, Scope, SqliteStore,
    Timestamp, Workspace,
};

#[path = "shared/memories.rs"]
mod memories;

use memories::{remember, scope};

/// Statements that copy the memory of the large scope until the scope has 99,990 memories, which all contain the same words.
const FILL: &str = "
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 99989)
    INSERT INTO memory (id, workspace, agent, hash, content, type, durability, importance, source, created, updated)
        SELECT 'copy ' || i, workspace, agent, 'hash ' || i, content || ' ' || i, type, durability, importance, source, created, updated
        FROM n, memory WHERE content = 'The user drinks tea';
    INSERT INTO memory_text (rowid, labels, terms)
        SELECT m.seq, t.labels, t.terms || ' word' || m.seq FROM memory m, (SELECT labels, terms FROM memory_text LIMIT 1) t WHERE m.id LIKE 'copy %';";

// S2-47, S2-29: a scope of 10 memories is searched completely next to a scope of 99,990 memories with the same words, even after ten searches in the
// large scope on the same connection. A search in the large scope for words that every memory contains returns as many results as its limit allows.
#[tokio::test]
async fn small_scope_is_found_next_to_a_large_one() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("state.db");
    let store = SqliteStore::open(&file).await.unwrap();
    memories::remember_one(&store).await;
    let mut connection = SqliteConnectOptions::new()
        .filename(&file)
        .connect()
        .await
        .unwrap();
    sqlx::raw_sql(FILL).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    memories::small_scope_is_found(&store).await;
}

/// Returns the embedding of a memory by its number: the embeddings of the numbers below 20 are near the embedding of the number 100,000, and all
/// other embeddings are random.
fn embedding(number: u64) -> Vec<f32> {
    let random = |seed: u64| {
        (0..64_u64).map(move |place| {
            let mut mixed = (seed * 64 + place + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            f32::from(u16::try_from(mixed >> 48).unwrap()) - 32_768.0
        })
    };
    if number < 20 {
        let values = random(100_000).zip(random(number));
        return values.map(|(one, other)| one + 0.6 * other).collect();
    }
    random(number).collect()
}

async fn nearest(store: &impl LongTermStore, agent: &str) -> Vec<MemoryHit> {
    let vector = MemoryVector::new("m", embedding(100_000)).unwrap();
    let query = MemoryQuery {
        text: String::new(),
        types: Vec::new(),
        limit: 20,
        now: Timestamp::from_millis(200),
    };
    let found = store.nearest_memories(&scope(agent), &vector, &query).await;
    let found = found.unwrap();
    assert!(found.iter().all(|hit| hit.memory.scope == scope(agent)));
    found
}

/// Stores 10 memories with embeddings in a small scope, and searches in both scopes.
async fn nearest_of_a_small_scope_are_found(store: &impl LongTermStore) {
    for number in 0..10 {
        remember(store, "small", &format!("memory {number}")).await;
    }
    let filter = MemoryFilter {
        scope: Some(scope("small")),
        ..MemoryFilter::default()
    };
    let workspace = Workspace::new("acme");
    let small = store.list_memories(Scope::Workspace(&workspace), &filter);
    for (row, number) in small.await.unwrap().iter().zip(50_000..) {
        let vector = MemoryVector::new("m", embedding(number)).unwrap();
        let embedded = store.embed_memory(&workspace, &row.id, &row.hash, &vector);
        assert!(embedded.await.unwrap());
    }
    for _ in 0..10 {
        let found = nearest(store, "large").await;
        let mut best: Vec<_> = found.iter().map(|hit| &*hit.memory.content).collect();
        best.sort_unstable();
        let mut expected: Vec<_> = (0..20).map(|number| format!("memory {number}")).collect();
        expected.sort_unstable();
        assert_eq!(best, expected);
    }
    assert_eq!(nearest(store, "small").await.len(), 10);
}

/// Stores 99,990 memories of the large scope as an earlier version of the program did, with embeddings of 64 dimensions and without codes.
async fn fill_with_embeddings(connection: &mut SqliteConnection) {
    sqlx::raw_sql(
        "WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 99989)
         INSERT INTO memory (id, workspace, agent, hash, content, type, durability, importance, source, model, created, updated)
             SELECT 'copy ' || i, 'acme', 'large', 'hash ' || i, 'memory ' || i, 'fact', 'core', 500000, 'user', 'm', 100, 100 FROM n",
    )
    .execute(&mut *connection)
    .await
    .unwrap();
    let mut change = connection.begin().await.unwrap();
    let numbers: Vec<u64> = (0..99_990).collect();
    for numbers in numbers.chunks(1_000) {
        let mut insert =
            QueryBuilder::new("INSERT INTO memory_vector (seq, workspace, agent, model, vector) ");
        insert.push_values(numbers, |mut row, number| {
            let vector = MemoryVector::new("m", embedding(*number)).unwrap();
            let bytes = vector.values().iter().flat_map(|value| value.to_le_bytes());
            // The table was empty, so the first memory has the number 1.
            row.push_bind(i64::try_from(*number).unwrap() + 1);
            row.push_bind("acme").push_bind("large").push_bind("m");
            row.push_bind(bytes.collect::<Vec<u8>>());
        });
        insert.build().execute(&mut *change).await.unwrap();
    }
    change.commit().await.unwrap();
}

/// Returns four numbers: all embeddings, the embeddings in blocks, the entries of all blocks, and the embeddings without a code.
async fn counts(connection: &mut SqliteConnection) -> [i64; 4] {
    let counts: (i64, i64, i64, i64) = sqlx::query_as(
        "SELECT (SELECT count(*) FROM memory_vector), (SELECT count(*) FROM memory_code_place), (SELECT coalesce(sum(used), 0) FROM memory_code),
         (SELECT count(*) FROM memory_uncoded)",
    )
    .fetch_one(connection)
    .await
    .unwrap();
    counts.into()
}

// S2-29, S2-47: in a file of an earlier version, a search by embeddings finds all memories of a scope of 10 memories next to a scope of 99,990
// memories, even after ten searches in the large scope on the same connection. A search in the large scope has the results of an exact search, and no
// code of a removed memory is left.
#[tokio::test]
async fn embeddings_of_a_small_scope_are_found_next_to_a_large_one() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("state.db");
    SqliteStore::open(&file).await.unwrap().close().await;
    let options = SqliteConnectOptions::new().filename(&file);
    let mut connection = options.foreign_keys(true).connect().await.unwrap();
    fill_with_embeddings(&mut connection).await;
    assert_eq!(counts(&mut connection).await, [99_990, 0, 0, 99_990]);

    let store = SqliteStore::open(&file).await.unwrap();
    assert_eq!(counts(&mut connection).await, [99_990, 99_990, 99_990, 0]);
    nearest_of_a_small_scope_are_found(&store).await;
    assert_eq!(counts(&mut connection).await, [100_000, 99_990, 99_990, 10]);

    let large = scope("large");
    for number in (0..99_990).step_by(100) {
        let workspace = large.workspace();
        let id = format!("copy {number}");
        assert!(store.remove_memory(workspace, &id).await.unwrap());
    }
    assert_eq!(counts(&mut connection).await, [99_000, 98_990, 98_990, 10]);
    store.close().await;
}
