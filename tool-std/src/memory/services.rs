//! The services of a host that the memory tools use: embeddings, reranking and the importance of memories.

use futures::future::BoxFuture;
use tool_core::ToolError;

use super::{Durability, MemoryType};

/// A model that computes embeddings.
///
/// ```
/// use futures::future::{BoxFuture, FutureExt as _};
/// use tool_core::ToolError;
/// use tool_std::memory::Embedder;
///
/// /// Counts letters.
/// struct Letters;
///
/// impl Embedder for Letters {
///     fn model(&self) -> &str {
///         "letters"
///     }
///
///     fn embed<'a>(&'a self, texts: &'a [String]) -> BoxFuture<'a, Result<Vec<Vec<f32>>, ToolError>> {
///         let count = |text: &String, letter| text.matches(letter).count() as f32 + 0.1;
///         let vectors = texts.iter().map(|text| vec![count(text, 'a'), count(text, 'e')]).collect();
///         async { Ok(vectors) }.boxed()
///     }
/// }
/// ```
pub trait Embedder: Send + Sync + 'static {
    /// Returns a name for the vectors of the model, which includes everything that changes them, such as the number of dimensions. Vectors with different names
    /// are never compared.
    fn model(&self) -> &str;

    /// Returns the vector of each text, in order. All vectors have the same number of dimensions.
    fn embed<'a>(&'a self, texts: &'a [String]) -> BoxFuture<'a, Result<Vec<Vec<f32>>, ToolError>>;
}

/// A model that scores how well texts answer a query.
pub trait Reranker: Send + Sync + 'static {
    /// Returns the score of each text, in order; larger scores are better.
    fn rerank<'a>(
        &'a self,
        query: &'a str,
        texts: &'a [String],
    ) -> BoxFuture<'a, Result<Vec<f64>, ToolError>>;
}

/// Computes the importance of a memory. [`Heuristic`](super::Heuristic) is the default.
pub trait ImportanceScorer: Send + Sync + 'static {
    /// Returns a number from 0 to 1. Numbers outside of the range are moved into it, and a value that is not a number becomes 0.5.
    fn importance<'a>(
        &'a self,
        content: &'a str,
        memory_type: MemoryType,
        durability: Durability,
    ) -> BoxFuture<'a, Result<f64, ToolError>>;
}
