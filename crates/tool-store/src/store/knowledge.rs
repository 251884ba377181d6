//! Documents of a workspace, their searchable chunks, and the jobs that index them.

use std::time::Duration;

use super::{Scope, StoreFuture, Timestamp};

mod document;
mod embedding;
mod index;
mod search;
mod write;

pub use document::{Document, DocumentFilter, DocumentName, DocumentRow, DocumentStatus};
pub use embedding::{
    ChunkEmbedding, ChunkText, DocumentEmbedding, EmbeddingClaim, EmbeddingOutcome, EmbeddingWork,
};
pub use index::{IndexClaim, IndexOutcome};
pub use search::{ChunkHit, ChunkSearch, ChunkVectorSearch};
pub(crate) use search::{best_chunks, rounded};
pub use write::{DocumentWrite, DocumentWriteMode, DocumentWritten};

/// A store of documents that a search finds by their words, and by embeddings if the host computes them.
///
/// A write stores the content and marks the document for indexing. A worker claims the document for the length of a lease, splits its text into
/// chunks, and stores them. If the process of the worker dies, another worker claims the document when the lease expires. A write during a claim ends
/// the claim, so that the worker cannot store chunks of content that was replaced.
///
/// The chunks of an indexed document wait for their embeddings. A worker claims a batch of them with [`claim_embedding`](Self::claim_embedding), and
/// stores the vectors with [`finish_embedding`](Self::finish_embedding). Until then, and if no worker computes embeddings, a search finds the chunks
/// only by their words. The rows record the progress: a batch that was not stored, for example because the worker died, is claimed again when the
/// lease expires.
///
/// Documents belong to their workspace and are kept until [`remove_document`](Self::remove_document) removes them. The erasure of a user
/// ([`Maintenance::erase_contents`](super::Maintenance::erase_contents)) removes the name of the user from the documents, and keeps the documents.
///
/// Contents are stored in clear text, also by a store that seals messages, because the index of the words contains them.
///
/// ```
/// use std::time::Duration;
/// use tool_store::*;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), StoreError> {
/// let (store, workspace, at) = (MemoryStore::default(), Workspace::new("acme"), Timestamp::now());
/// let name = DocumentName::new(&workspace, "returns.md")?;
/// store.write_document(DocumentWrite {
///     name: name.clone(), mode: DocumentWriteMode::Replace, content: "Returns are free for 30 days.".into(), mime: None,
///     source: "upload".into(), principal: None, at,
/// }).await?;
///
/// // A worker indexes the document.
/// let claim = IndexClaim { worker: "one".into(), lease: Duration::from_secs(60), most_recoveries: 3, at };
/// let document = store.claim_document(Scope::All, claim).await?.expect("a document");
/// let text = String::from_utf8_lossy(&document.content);
/// let indexed = IndexOutcome::Indexed { text: None, chunks: Document::chunks(&text) };
/// assert!(store.finish_index(&name, document.row.token.as_deref().unwrap(), indexed, at).await?);
///
/// let hits = store.search_chunks(ChunkSearch { workspace: &workspace, query: "free returns", limit: 5 }).await?;
/// assert_eq!(hits[0].file, "returns.md");
/// # Ok(())
/// # }
/// ```
#[doc(alias("rag", "retrieval", "knowledge base", "full-text search"))]
pub trait KnowledgeStore: Send + Sync + 'static {
    /// Writes the content of a document, and marks the document for indexing. Fails with `Conflict` if [`DocumentWrite::check`] fails, or if text is
    /// appended to a document that is not a text or has a different type.
    fn write_document(&self, write: DocumentWrite) -> StoreFuture<'_, DocumentWritten>;

    /// Returns a document with its content; `None` if it does not exist.
    fn document<'a>(&'a self, name: &'a DocumentName) -> StoreFuture<'a, Option<Document>>;

    /// Returns the documents of a scope, ordered by workspace and file name.
    fn list_documents<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a DocumentFilter,
    ) -> StoreFuture<'a, Vec<DocumentRow>>;

    /// Removes a document with its content, its chunks and their embeddings. Returns whether it existed. Afterwards, no file of a
    /// `SqliteStore` contains the content; a PostgreSQL server keeps it until a vacuum, and in its write-ahead log until the log is recycled.
    fn remove_document<'a>(&'a self, name: &'a DocumentName) -> StoreFuture<'a, bool>;

    /// Returns the chunks of a workspace that match a query, best first. Two rankings are fused by rank: the chunks that contain every word of the
    /// query, and the chunks that contain any of the words. The SQL stores of this crate rank a limited number of chunks: for each word, and for all
    /// words together, at most `max(50, 1000 / words)`.
    fn search_chunks<'a>(&'a self, search: ChunkSearch<'a>) -> StoreFuture<'a, Vec<ChunkHit>>;

    /// Claims the document that has waited longest. Documents whose leases expired too often fail and are skipped. Returns `None` if no document is
    /// ready.
    fn claim_document<'a>(
        &'a self,
        scope: Scope<'a>,
        claim: IndexClaim,
    ) -> StoreFuture<'a, Option<Document>>;

    /// Extends the lease of a claim. Returns false if the token is not the token of the current claim, or if the lease has expired: the worker must
    /// then stop its work.
    fn extend_index<'a>(
        &'a self,
        name: &'a DocumentName,
        token: &'a str,
        lease: Duration,
        at: Timestamp,
    ) -> StoreFuture<'a, bool>;

    /// Ends a claim. Returns false, and changes nothing, if the token is not the token of the current claim.
    fn finish_index<'a>(
        &'a self,
        name: &'a DocumentName,
        token: &'a str,
        outcome: IndexOutcome,
        at: Timestamp,
    ) -> StoreFuture<'a, bool>;

    /// Returns the chunks of a workspace whose embeddings are most similar to a vector of the same model, best first. Chunks without an embedding of
    /// the model are not found.
    ///
    /// In workspaces with at most 1,024 embeddings of the model, the result is exact. In larger workspaces, the SQL stores of this crate first select
    /// the embeddings of the workspace whose codes (one bit for each dimension) are nearest to the code of the vector: 8 for each result, and at
    /// least 512. They compare only these embeddings, so a result may be missing.
    fn nearest_chunks<'a>(
        &'a self,
        search: ChunkVectorSearch<'a>,
    ) -> StoreFuture<'a, Vec<ChunkHit>>;

    /// Claims the document that has waited longest for embeddings, with a batch of its chunks that have no embedding of the model. Documents without
    /// such a chunk no longer wait. Returns `None` if no document is ready.
    fn claim_embedding<'a>(
        &'a self,
        scope: Scope<'a>,
        claim: EmbeddingClaim,
    ) -> StoreFuture<'a, Option<EmbeddingWork>>;

    /// Ends a claim of [`claim_embedding`](Self::claim_embedding). Returns false, and changes nothing, if the token is not the token of the current
    /// claim, for example because the document was indexed again.
    fn finish_embedding<'a>(
        &'a self,
        name: &'a DocumentName,
        token: &'a str,
        outcome: EmbeddingOutcome,
        at: Timestamp,
    ) -> StoreFuture<'a, bool>;

    /// Makes at most `limit` documents of a scope wait for embeddings of a model, and returns the number of these documents. Selects documents with
    /// chunks that do not wait yet and whose [last model](DocumentEmbedding::model) is not this model. Their current embeddings are kept until new
    /// embeddings replace them.
    ///
    /// Call it until it returns 0, after all processes use the new model. A worker that still uses the previous model may otherwise claim the
    /// documents.
    fn renew_embeddings<'a>(
        &'a self,
        scope: Scope<'a>,
        model: &'a str,
        limit: u32,
        at: Timestamp,
    ) -> StoreFuture<'a, u64>;
}
