//! Embeddings of texts, with which the packs `memory` and `knowledge` search by meaning.

use futures::future::BoxFuture;
use tool_core::ToolError;
use tool_core::store::MemoryVector;

#[cfg(feature = "http-client")]
mod http;

#[cfg(feature = "http-client")]
#[cfg_attr(docsrs, doc(cfg(feature = "http-client")))]
pub use http::HttpEmbedder;

/// A model that computes embeddings.
///
/// ```
/// use futures::future::{BoxFuture, FutureExt as _};
/// use tool_core::ToolError;
/// use tool_std::embedding::Embedder;
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
    /// Returns a name for the vectors of the model. The name must include everything that changes the vectors, such as the number of dimensions.
    /// Vectors with different names are never compared.
    fn model(&self) -> &str;

    /// Returns the vector of each text, in order. All vectors have the same number of dimensions.
    fn embed<'a>(&'a self, texts: &'a [String]) -> BoxFuture<'a, Result<Vec<Vec<f32>>, ToolError>>;
}

/// Returns the vector of each text, in order. Fails if the embedder fails, returns more or fewer vectors than texts, or returns vectors that are
/// invalid or have different numbers of dimensions.
pub(crate) async fn vectors(
    embedder: &dyn Embedder,
    texts: &[String],
) -> Result<Vec<MemoryVector>, ToolError> {
    let values = embedder.embed(texts).await?;
    let faulty = |fault: String| ToolError::unavailable("the embedder").operator(fault);
    if values.len() != texts.len() {
        let (got, wanted) = (values.len(), texts.len());
        return Err(faulty(format!(
            "the embedder returned {got} vectors for {wanted} texts"
        )));
    }
    let mut lengths = values.iter().map(Vec::len);
    let first = lengths.next();
    if lengths.any(|length| Some(length) != first) {
        return Err(faulty(
            "the embedder returned vectors with different numbers of dimensions".to_owned(),
        ));
    }
    let vectors = values.into_iter();
    let vectors = vectors.map(|values| MemoryVector::new(embedder.model(), values));
    let vectors = vectors.collect::<Result<_, _>>();
    vectors.map_err(|error| faulty(error.to_string()))
}

/// Returns the results of the searches that succeeded, and a note for a search that failed. `meanings` is `None` without an embedder. Fails if no search
/// succeeded.
pub(crate) fn both<T>(
    words: Result<Vec<T>, ToolError>,
    meanings: Result<Option<Vec<T>>, ToolError>,
) -> Result<(Vec<Vec<T>>, Option<&'static str>), ToolError> {
    match (words, meanings) {
        (Ok(words), Ok(meanings)) => {
            let lists = [Some(words), meanings];
            Ok((lists.into_iter().flatten().collect(), None))
        }
        (Ok(words), Err(_)) => {
            let note = "The search by meaning failed, so the results contain words of the query.";
            Ok((vec![words], Some(note)))
        }
        (Err(_), Ok(Some(meanings))) => {
            let note = "The search by words failed, so the results only have a similar meaning.";
            Ok((vec![meanings], Some(note)))
        }
        (Err(error), _) => Err(error),
    }
}

/// Returns a score with 4 decimals.
pub(crate) fn rounded(score: f64) -> f64 {
    (score * 10_000.0).round() / 10_000.0
}
