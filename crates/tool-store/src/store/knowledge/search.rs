//! Searches for chunks, and their rankings.

use crate::store::{MemoryVector, Workspace};
use crate::text_search::{Candidate, fuse, rank};

/// A query for chunks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChunkSearch<'a> {
    /// The workspace whose documents are searched.
    pub workspace: &'a Workspace,
    /// The query, in words. It is not a query language: operators have no meaning.
    pub query: &'a str,
    /// The maximum number of chunks.
    pub limit: u32,
}

/// A query for chunks by their embeddings.
#[derive(Clone, Debug, PartialEq)]
pub struct ChunkVectorSearch<'a> {
    /// The workspace whose documents are searched.
    pub workspace: &'a Workspace,
    /// The embedding of the query. Only embeddings of its model and with its number of dimensions are compared.
    pub vector: &'a MemoryVector,
    /// The maximum number of chunks.
    pub limit: u32,
}

/// A chunk that matches a query.
#[derive(Clone, Debug, PartialEq)]
pub struct ChunkHit {
    /// The file name of the document.
    pub file: String,
    /// The position of the chunk in its document; 0 is the first.
    pub index: u32,
    /// The text of the chunk.
    pub content: String,
    /// The score, with four decimals. In a search by words it depends only on the ranks of the chunk, so it can be compared only with scores of the
    /// same query. In a search by embeddings it is the cosine of the two vectors, from -1 to 1.
    pub score: f64,
}

/// Implements the ranking of [`KnowledgeStore::search_chunks`](super::KnowledgeStore::search_chunks). `total` is the number of chunks of the
/// workspace, from which the candidates come.
pub(crate) fn best_chunks<K: Clone + Ord>(
    query: &[String],
    candidates: Vec<Candidate<K>>,
    total: u64,
    limit: u32,
) -> Vec<(K, f64)> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    // A chunk below this place of a ranking gets no score from that ranking.
    let fetched = limit.saturating_mul(2).max(20);
    let keys = |ranked: Vec<(K, f64)>| {
        let keys = ranked.into_iter().take(fetched);
        keys.map(|(key, _)| key).collect::<Vec<K>>()
    };
    let any = keys(rank(query, &candidates, total));
    let mut complete = candidates;
    complete.retain(|candidate| {
        query
            .iter()
            .all(|term| candidate.terms.split(' ').any(|word| word == term))
    });
    let complete = keys(rank(query, &complete, total));
    let fused = fuse(&[complete, any]).into_iter().take(limit);
    fused.map(|(key, score)| (key, rounded(score))).collect()
}

/// Returns a score with four decimals.
pub(crate) fn rounded(score: f64) -> f64 {
    (score * 10_000.0).round() / 10_000.0
}
