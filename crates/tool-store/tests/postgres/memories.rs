//! Tests of searches in a large table of memories.

use test_support::Ran;

use crate::database::Database;
use crate::large_memories;

/// Statements that copy the memory of the large scope until the scope has 99,990 memories, which all contain the same words.
const FILL: &str = "
    INSERT INTO tool_store.memory (id, workspace, agent, hash, content, type, durability, importance, source, created, updated)
        SELECT 'copy ' || i, workspace, agent, 'hash ' || i, content || ' ' || i, type, durability, importance, source, created, updated
        FROM generate_series(1, 99989) i, tool_store.memory WHERE content = 'The user drinks tea';
    INSERT INTO tool_store.memory_text (rowid, labels, terms)
        SELECT m.seq, t.labels, t.terms || ' word' || m.seq FROM tool_store.memory m, (SELECT labels, terms FROM tool_store.memory_text LIMIT 1) t
        WHERE m.id LIKE 'copy %';
    ANALYZE";

// S2-47, S2-29: a scope of 10 memories is searched completely next to a scope of 99,990 memories with the same words, even after ten searches in the
// large scope on the same connection. A search in the large scope for words that every memory contains returns as many results as its limit allows.
pub(crate) async fn small_scope_is_found_next_to_a_large_one_case() -> Ran {
    let database = Database::create().await?;
    let store = database.options().connections(1).open().await.unwrap();
    large_memories::remember_one(&store).await;
    database.tamper(FILL).await;
    large_memories::small_scope_is_found(&store).await;
    Ok(())
}
