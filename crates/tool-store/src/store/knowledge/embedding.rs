//! The embeddings of chunks: claims of batches, their ends, and the state transitions of rows.

use std::time::Duration;

use super::DocumentRow;
use crate::store::{MemoryVector, Timestamp};

/// Maximum length of a [fault](DocumentEmbedding::fault), in characters.
const MOST_FAULT: usize = 500;

/// The state of the embeddings of a document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DocumentEmbedding {
    /// The model that last computed the embeddings of all chunks. `None` if no model has done so.
    pub model: Option<String>,
    /// When a worker may compute embeddings: the time from which the document waits, or the end of the lease of the current claim. `None` if the
    /// document does not wait for embeddings. It is measured by the same clock as [`DocumentRow::ready`].
    pub ready: Option<Timestamp>,
    /// The token of the current claim, which is new for each claim.
    pub token: Option<String>,
    /// The number of attempts that failed since the last success, or since the document was last indexed or
    /// [renewed](super::KnowledgeStore::renew_embeddings).
    pub failures: u32,
    /// Why the last of these attempts failed, for operators; `None` if none failed.
    pub fault: Option<String>,
}

/// A claim of a batch of chunks by a worker that computes embeddings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmbeddingClaim {
    /// The model that computes the embeddings.
    pub model: String,
    /// The length of the lease.
    pub lease: Duration,
    /// The maximum number of chunks.
    pub most_chunks: u32,
    /// When the worker claims.
    pub at: Timestamp,
}

/// A claimed batch of chunks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmbeddingWork {
    /// The document. Its [`DocumentEmbedding::token`] is the token of the claim.
    pub row: DocumentRow,
    /// The chunks, at least one, in the order of the document.
    pub chunks: Vec<ChunkText>,
}

/// The text of a chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChunkText {
    /// The position of the chunk in its document; 0 is the first.
    pub index: u32,
    /// The text of the chunk.
    pub content: String,
}

/// The embedding of a chunk.
#[derive(Clone, Debug, PartialEq)]
pub struct ChunkEmbedding {
    /// The position of the chunk in its document; 0 is the first.
    pub index: u32,
    /// The vector of the text of the chunk.
    pub vector: MemoryVector,
}

/// The outcome of a claimed batch.
#[derive(Clone, Debug, PartialEq)]
pub enum EmbeddingOutcome {
    /// The embeddings were computed. Each replaces the previous embedding of its chunk. Embeddings of chunks that do not exist are ignored.
    Embedded(Vec<ChunkEmbedding>),
    /// The embeddings could not be computed.
    Failed {
        /// The cause, for operators. Only the first 500 characters are stored.
        fault: String,
        /// The time for which the document waits before the next attempt.
        retry: Duration,
    },
}

impl EmbeddingOutcome {
    /// Returns the model of the embeddings.
    pub(crate) fn model(&self) -> Option<&str> {
        match self {
            Self::Embedded(embeddings) => {
                let first = embeddings.first();
                first.map(|embedding| embedding.vector.model())
            }
            Self::Failed { .. } => None,
        }
    }
}

impl DocumentEmbedding {
    /// Ends the current claim, and removes the failures. The document waits for embeddings from `ready` on, or does not wait if `ready` is `None`.
    pub(super) fn waits(&mut self, ready: Option<Timestamp>) {
        self.ready = ready;
        self.token = None;
        self.failures = 0;
        self.fault = None;
    }

    /// Returns whether a worker may claim the document.
    pub fn is_ready(&self, now: Timestamp) -> bool {
        self.ready.is_some_and(|ready| ready <= now)
    }

    /// Applies [`KnowledgeStore::claim_embedding`](super::KnowledgeStore::claim_embedding) to a row that [is ready](Self::is_ready) and has chunks
    /// without an embedding of the model.
    pub fn claim(&mut self, claim: &EmbeddingClaim, token: String) {
        self.token = Some(token);
        self.ready = Some(claim.at.plus(claim.lease));
    }

    /// Applies [`KnowledgeStore::claim_embedding`](super::KnowledgeStore::claim_embedding) to the row of a document whose chunks all have an
    /// embedding of the model.
    pub fn complete(&mut self, model: &str) {
        self.waits(None);
        self.model = Some(model.to_owned());
    }

    /// Applies [`KnowledgeStore::finish_embedding`](super::KnowledgeStore::finish_embedding) to the row. `now` is the time of the clock that decides
    /// about leases. Returns false, and changes nothing, if the token is not the token of the current claim. If all chunks then have an
    /// embedding of the model, the store [completes](Self::complete) the row.
    pub fn finish(&mut self, token: &str, outcome: &EmbeddingOutcome, now: Timestamp) -> bool {
        if self.token.as_deref() != Some(token) {
            return false;
        }
        match outcome {
            EmbeddingOutcome::Embedded(_) => self.waits(Some(now)),
            EmbeddingOutcome::Failed { fault, retry } => {
                self.ready = Some(now.plus(*retry));
                self.token = None;
                self.failures = self.failures.saturating_add(1);
                self.fault = Some(fault.chars().take(MOST_FAULT).collect());
            }
        }
        true
    }

    /// Applies [`KnowledgeStore::renew_embeddings`](super::KnowledgeStore::renew_embeddings) to the row of a document with chunks. Returns whether
    /// the row has changed.
    pub fn renew(&mut self, model: &str, now: Timestamp) -> bool {
        let renews = self.ready.is_none() && self.model.as_deref() != Some(model);
        if renews {
            self.waits(Some(now));
        }
        renews
    }
}
