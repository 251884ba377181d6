//! Memories in a large table on SQLite: a search finds the memories of a small scope next to a large one, in bounded time.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _};
use tool_store::SqliteStore;

#[path = "shared/memories.rs"]
mod memories;

/// Copies the memory of the large scope until it has 99,990 memories, which all contain its words.
const FILL: &str = "
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 99989)
    INSERT INTO memory (id, workspace, agent, hash, content, type, durability, importance, source, created, updated)
        SELECT 'copy ' || i, workspace, agent, 'hash ' || i, content || ' ' || i, type, durability, importance, source, created, updated
        FROM n, memory WHERE content = 'The user drinks tea';
    INSERT INTO memory_text (rowid, labels, terms)
        SELECT m.seq, t.labels, t.terms || ' word' || m.seq FROM memory m, (SELECT labels, terms FROM memory_text LIMIT 1) t WHERE m.id LIKE 'copy %';";

// S2-47, S2-29: a scope of 10 memories is searched completely next to a scope of 99,990 memories with the same words, on a connection that served the large one
// ten times before, and a search in the large scope for a word of every memory takes less than a second.
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
