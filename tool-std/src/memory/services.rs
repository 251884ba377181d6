//! The services of a host that only the memory tools use: reranking and the importance of memories.

use futures::future::BoxFuture;
use tool_core::ToolError;

use super::{Durability, MemoryType};

/// A model that scores how well texts answer a query.
pub trait Reranker: Send + Sync + 'static {
    /// Returns the score of each text, in order; larger scores are better. If a score is infinite or NaN, or if the number of scores is not the
    /// number of texts, the tool ignores the scores.
    fn rerank<'a>(
        &'a self,
        query: &'a str,
        texts: &'a [String],
    ) -> BoxFuture<'a, Result<Vec<f64>, ToolError>>;
}

/// Computes the importance of a memory. [`Heuristic`](super::Heuristic) is the default.
pub trait ImportanceScorer: Send + Sync + 'static {
    /// Returns a number from 0 to 1. The tool clamps a number outside of this range, and replaces NaN and an error with 0.5.
    fn importance<'a>(
        &'a self,
        content: &'a str,
        memory_type: MemoryType,
        durability: Durability,
    ) -> BoxFuture<'a, Result<f64, ToolError>>;
}
