//! A store of documents that fails or hangs at a chosen step.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tool_core::store::{
    ChunkHit, ChunkSearch, ChunkVectorSearch, Document, DocumentFilter, DocumentName, DocumentRow,
    DocumentWrite, DocumentWritten, EmbeddingClaim, EmbeddingOutcome, EmbeddingWork, IndexClaim,
    IndexOutcome, KnowledgeStore, MemoryStore, Scope, StoreError, StoreFuture, Timestamp,
};

/// A step of the indexing at which the store fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    ClaimFails,
    ExtendFails,
    /// The store finishes the index, and its response is lost.
    FinishLosesItsResult,
    FinishFails,
    FinishHangs,
    FinishTakes(Duration),
    SearchByWordsFails,
    SearchByMeaningFails,
    BothSearchesFail,
    EmbeddingClaimFails,
    EmbeddingFinishFails,
    /// The store stores the embeddings, and its response is lost.
    EmbeddingFinishLosesItsResult,
}

/// The memory store, with a fault that can be set and removed.
#[derive(Clone, Default)]
pub(crate) struct FaultyStore {
    pub(crate) store: MemoryStore,
    fault: Arc<Mutex<Option<Fault>>>,
}

impl FaultyStore {
    pub(crate) fn set(&self, fault: Option<Fault>) {
        *self.fault.lock().unwrap() = fault;
    }

    fn has(&self, fault: Fault) -> bool {
        *self.fault.lock().unwrap() == Some(fault)
    }
}

fn failed<'a, T: Send + 'a>() -> StoreFuture<'a, T> {
    Box::pin(async { Err(StoreError::Unavailable("the disk is full".into())) })
}

impl KnowledgeStore for FaultyStore {
    fn write_document(&self, write: DocumentWrite) -> StoreFuture<'_, DocumentWritten> {
        self.store.write_document(write)
    }

    fn document<'a>(&'a self, name: &'a DocumentName) -> StoreFuture<'a, Option<Document>> {
        self.store.document(name)
    }

    fn list_documents<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a DocumentFilter,
    ) -> StoreFuture<'a, Vec<DocumentRow>> {
        self.store.list_documents(scope, filter)
    }

    fn remove_document<'a>(&'a self, name: &'a DocumentName) -> StoreFuture<'a, bool> {
        self.store.remove_document(name)
    }

    fn search_chunks<'a>(&'a self, search: ChunkSearch<'a>) -> StoreFuture<'a, Vec<ChunkHit>> {
        if self.has(Fault::SearchByWordsFails) || self.has(Fault::BothSearchesFail) {
            return failed();
        }
        self.store.search_chunks(search)
    }

    fn claim_document<'a>(
        &'a self,
        scope: Scope<'a>,
        claim: IndexClaim,
    ) -> StoreFuture<'a, Option<Document>> {
        if self.has(Fault::ClaimFails) {
            return failed();
        }
        self.store.claim_document(scope, claim)
    }

    fn extend_index<'a>(
        &'a self,
        name: &'a DocumentName,
        token: &'a str,
        lease: Duration,
        at: Timestamp,
    ) -> StoreFuture<'a, bool> {
        if self.has(Fault::ExtendFails) {
            return failed();
        }
        self.store.extend_index(name, token, lease, at)
    }

    fn finish_index<'a>(
        &'a self,
        name: &'a DocumentName,
        token: &'a str,
        outcome: IndexOutcome,
        at: Timestamp,
    ) -> StoreFuture<'a, bool> {
        let fault = *self.fault.lock().unwrap();
        Box::pin(async move {
            match fault {
                Some(Fault::FinishFails) => return failed().await,
                Some(Fault::FinishHangs) => std::future::pending().await,
                Some(Fault::FinishTakes(time)) => tokio::time::sleep(time).await,
                _ => {}
            }
            let finished = self.store.finish_index(name, token, outcome, at).await;
            if fault == Some(Fault::FinishLosesItsResult) {
                return failed().await;
            }
            finished
        })
    }

    fn nearest_chunks<'a>(
        &'a self,
        search: ChunkVectorSearch<'a>,
    ) -> StoreFuture<'a, Vec<ChunkHit>> {
        if self.has(Fault::SearchByMeaningFails) || self.has(Fault::BothSearchesFail) {
            return failed();
        }
        self.store.nearest_chunks(search)
    }

    fn claim_embedding<'a>(
        &'a self,
        scope: Scope<'a>,
        claim: EmbeddingClaim,
    ) -> StoreFuture<'a, Option<EmbeddingWork>> {
        if self.has(Fault::EmbeddingClaimFails) {
            return failed();
        }
        self.store.claim_embedding(scope, claim)
    }

    fn finish_embedding<'a>(
        &'a self,
        name: &'a DocumentName,
        token: &'a str,
        outcome: EmbeddingOutcome,
        at: Timestamp,
    ) -> StoreFuture<'a, bool> {
        if self.has(Fault::EmbeddingFinishFails) {
            return failed();
        }
        Box::pin(async move {
            let finished = self.store.finish_embedding(name, token, outcome, at).await;
            if self.has(Fault::EmbeddingFinishLosesItsResult) {
                return failed().await;
            }
            finished
        })
    }

    fn renew_embeddings<'a>(
        &'a self,
        scope: Scope<'a>,
        model: &'a str,
        limit: u32,
        at: Timestamp,
    ) -> StoreFuture<'a, u64> {
        self.store.renew_embeddings(scope, model, limit, at)
    }
}
