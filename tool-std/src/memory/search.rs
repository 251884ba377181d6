//! The `search_memory` tool, which searches the memories of the calling agent and the shared memories of the workspace.

use std::collections::BTreeMap;

use futures::future::join;
use tool_core::Reads;
use tool_core::prelude::*;
use tool_core::store::text_search::fuse_scores;
use tool_core::store::{MemoryHit, MemoryQuery, MemoryRow, MemoryScope, Timestamp};

use super::host::{reader, unavailable};
use super::{Durability, Memory, MemoryOwner, MemorySource, MemoryType};
use crate::embedding::{both, rounded};

/// The memories that were found: the output of [`search_memory`](fn@search_memory).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, StrictSchema)]
pub struct MemoryResults {
    /// The query that was searched.
    pub query: String,
    /// The number of results.
    pub count: u64,
    /// The memories, best first.
    pub results: Vec<MemoryResult>,
    /// Why results may be missing or in a worse order; null if every search succeeded.
    pub note: Option<String>,
}

/// One memory of the results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, StrictSchema)]
pub struct MemoryResult {
    /// The id of the memory.
    pub id: String,
    /// The text of the memory.
    pub content: String,
    /// What the memory is about.
    pub memory_type: MemoryType,
    /// How long the memory keeps its weight in searches.
    pub durability: Durability,
    /// The importance of the memory, from 0 to 1.
    pub importance: f64,
    /// The score of the result, with 4 decimals. It can be compared only with the scores of the same search.
    pub score: f64,
    /// The agents that read the memory.
    pub scope: MemoryOwner,
    /// The author of the content.
    pub source: MemorySource,
    /// When the memory was first stored, in RFC 3339.
    pub created_at: String,
    /// When the memory was last stored, in RFC 3339.
    pub updated_at: String,
}

/// Searches what was remembered in earlier conversations, by you or for all agents of the organization. Search before you ask the user for something that they
/// may have said before. A memory may be outdated, and its source may be wrong.
#[tool(
    category = "memory",
    example("What is known about a person", { "query": "what does Ada prefer?" }),
    example("Only preferences and rules", { "query": "answers to customers", "limit": 10, "types": ["preference", "fact"] }),
)]
pub async fn search_memory(
    memory: &Reads<Memory>,
    cx: &ToolContext,
    /// Words or a question.
    #[arg(length = 1..=1000)]
    query: String,
    /// The maximum number of results to return.
    #[arg(default = 5, range = 1..=20)]
    limit: u32,
    /// The types of memories to search; all types by default.
    #[arg(max_items = 7)]
    types: Option<Vec<MemoryType>>,
) -> Result<MemoryResults, ToolError> {
    let reader = reader(cx)?;
    let types = types.unwrap_or_default().into_iter();
    let search = MemoryQuery {
        text: query.clone(),
        types: types.map(Into::into).collect(),
        // Each search returns more results than the limit, because a result that both searches find may be the best one.
        limit: limit.saturating_mul(2).max(20),
        now: Timestamp::now(),
    };
    let words = memory.memories.search_memories(&reader, &search);
    let (words, meanings) = join(words, by_meaning(memory, &reader, &search)).await;
    let (lists, note) = both(words.map_err(unavailable), meanings)?;
    let mut notes: Vec<String> = note.map(str::to_owned).into_iter().collect();
    let mut ranked = fused(lists, search.limit);
    if let Err(note) = rerank(memory, &query, &mut ranked).await {
        notes.push(note);
    }
    ranked.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    let results: Vec<MemoryResult> = ranked.into_iter().map(result).collect();
    Ok(MemoryResults {
        query,
        count: u64::try_from(results.len()).unwrap_or(u64::MAX),
        results,
        note: (!notes.is_empty()).then(|| notes.join(" ")),
    })
}

/// Searches by meaning; `None` without an embedder.
async fn by_meaning(
    memory: &Memory,
    reader: &MemoryScope,
    search: &MemoryQuery,
) -> Result<Option<Vec<MemoryHit>>, ToolError> {
    let Some(vector) = memory.vector(&search.text).await? else {
        return Ok(None);
    };
    let found = memory.memories.nearest_memories(reader, &vector, search);
    Ok(Some(found.await.map_err(unavailable)?))
}

/// Fuses the results of a search by words and of a search by meaning, or returns the results of the only search.
fn fused(lists: Vec<Vec<MemoryHit>>, limit: u32) -> Vec<(MemoryRow, f64)> {
    let scores = lists.iter().map(|hits| {
        let hits = hits.iter();
        hits.map(|hit| (hit.memory.id.clone(), hit.score)).collect()
    });
    let scores: Vec<Vec<(String, f64)>> = scores.collect();
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let fused = match &*scores {
        [words, meanings] => fuse_scores(words, meanings, limit),
        lists => lists.concat(),
    };
    let rows = lists.into_iter().flatten().map(|hit| hit.memory);
    let mut rows: BTreeMap<String, MemoryRow> = rows.map(|row| (row.id.clone(), row)).collect();
    let fused = fused.into_iter();
    fused
        .filter_map(|(id, score)| Some((rows.remove(&id)?, score)))
        .collect()
}

/// Orders memories by the scores of the host's reranker. If the reranker fails or returns invalid scores, keeps the order and returns a note.
async fn rerank(
    memory: &Memory,
    query: &str,
    ranked: &mut [(MemoryRow, f64)],
) -> Result<(), String> {
    let Some(reranker) = &memory.reranker else {
        return Ok(());
    };
    if ranked.len() < 2 {
        return Ok(());
    }
    let texts: Vec<String> = ranked.iter().map(|(row, _)| row.content.clone()).collect();
    let scores = reranker.rerank(query, &texts).await;
    let failed = || "The results could not be ranked again.".to_owned();
    let scores = scores.map_err(|_| failed())?;
    if scores.len() != ranked.len() || scores.iter().any(|score| !score.is_finite()) {
        return Err(failed());
    }
    for ((_, score), new) in ranked.iter_mut().zip(scores) {
        *score = new;
    }
    ranked.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    Ok(())
}

fn result((row, score): (MemoryRow, f64)) -> MemoryResult {
    let is_own = row.scope.agent_name().is_some();
    MemoryResult {
        scope: if is_own {
            MemoryOwner::Agent
        } else {
            MemoryOwner::Org
        },
        id: row.id,
        content: row.content,
        memory_type: row.memory_type.into(),
        durability: row.durability.into(),
        importance: row.importance.value(),
        score: rounded(score),
        source: row.source.into(),
        created_at: row.created.rfc3339(),
        updated_at: row.updated.rfc3339(),
    }
}
