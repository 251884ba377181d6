//! The index of documents: claims, their ends, and the state transitions of rows.

use std::time::Duration;

use super::{DocumentRow, DocumentStatus};
use crate::env;
use crate::store::Timestamp;

/// A claim of a document by a worker that indexes documents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexClaim {
    /// The name of the worker, for operators.
    pub worker: String,
    /// The length of the lease.
    pub lease: Duration,
    /// The maximum number of expired leases. A document with more expired leases is not claimed, and fails with [`DocumentRow::CRASH_LIMIT`].
    pub most_recoveries: u32,
    /// When the worker claims.
    pub at: Timestamp,
}

impl IndexClaim {
    /// Returns a new token for a claim.
    pub fn token() -> String {
        env::token()
    }
}

/// The outcome of a claim of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IndexOutcome {
    /// The content was indexed. The chunks replace the chunks of the previous content; a chunk with the same text at the same position keeps its
    /// embedding.
    Indexed {
        /// The text that was extracted from the content; `None` if the content is itself the text.
        text: Option<String>,
        /// The chunks, in order.
        chunks: Vec<String>,
    },
    /// The content cannot be indexed; the text is the cause, such as `PDF_ENCRYPTED`. The chunks of the previous content are removed.
    Failed(String),
    /// The document is not indexed, for example because the worker is shut down, and may be claimed again after this time.
    Retry(Duration),
}

impl DocumentRow {
    /// The [fault](Self::fault) of a document whose leases expired too often, probably because its content crashes the processes that index it.
    pub const CRASH_LIMIT: &'static str = "CRASH_LIMIT";

    /// Returns whether a worker may claim the document.
    pub fn is_ready(&self, now: Timestamp) -> bool {
        self.ready.is_some_and(|ready| ready <= now)
    }

    /// Applies [`KnowledgeStore::claim_document`](super::KnowledgeStore::claim_document) to a row that [is ready](Self::is_ready). Returns whether
    /// the row was claimed. Otherwise, the document has failed because its leases expired too often, and the store must remove the chunks of the
    /// document.
    pub fn claim(&mut self, claim: &IndexClaim, token: String) -> bool {
        if self.status == DocumentStatus::Indexing {
            self.recoveries = self.recoveries.saturating_add(1);
            if self.recoveries > claim.most_recoveries {
                self.fail(Self::CRASH_LIMIT.to_owned());
                return false;
            }
        }
        self.status = DocumentStatus::Indexing;
        self.token = Some(token);
        self.worker = Some(claim.worker.clone());
        self.ready = Some(claim.at.plus(claim.lease));
        true
    }

    fn fail(&mut self, fault: String) {
        self.status = DocumentStatus::Failed;
        self.fault = Some(fault);
        self.chunks = 0;
        self.ready = None;
        self.token = None;
        self.embedding.waits(None);
    }

    /// Returns whether a token is the token of the current claim.
    fn is_claimed_with(&self, token: &str) -> bool {
        self.status == DocumentStatus::Indexing && self.token.as_deref() == Some(token)
    }

    /// Applies [`KnowledgeStore::extend_index`](super::KnowledgeStore::extend_index) to the row. Returns false, and changes nothing, if the token is
    /// not the token of the current claim, or if the lease has expired.
    pub fn extend(&mut self, token: &str, lease: Duration, now: Timestamp) -> bool {
        let extends = self.is_claimed_with(token) && !self.is_ready(now);
        if extends {
            self.ready = self.ready.max(Some(now.plus(lease)));
        }
        extends
    }

    /// Applies [`KnowledgeStore::finish_index`](super::KnowledgeStore::finish_index) to the row. `now` is the time of the clock that decides about
    /// leases, and `at` the time of the caller. Returns false, and changes nothing, if the token is not the token of the current claim.
    pub fn finish(
        &mut self,
        token: &str,
        outcome: &IndexOutcome,
        now: Timestamp,
        at: Timestamp,
    ) -> bool {
        if !self.is_claimed_with(token) {
            return false;
        }
        match outcome {
            IndexOutcome::Indexed { chunks, .. } => {
                self.status = DocumentStatus::Indexed;
                self.chunks = u32::try_from(chunks.len()).unwrap_or(u32::MAX);
                self.ready = None;
                self.token = None;
                self.recoveries = 0;
                self.indexed = Some(at);
                self.embedding.waits((!chunks.is_empty()).then_some(now));
            }
            IndexOutcome::Failed(fault) => self.fail(fault.clone()),
            IndexOutcome::Retry(after) => {
                self.status = DocumentStatus::Pending;
                self.ready = Some(now.plus(*after));
                self.token = None;
            }
        }
        true
    }
}
