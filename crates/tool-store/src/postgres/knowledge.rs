//! Documents in PostgreSQL, with its text search.

use std::time::Duration;

use sqlx::Postgres;

use crate::digest::sha256;
use crate::sql::knowledge::{self as shared, TextIndex};
use crate::sql::statement::Statement;
use crate::store::{
    ChunkHit, ChunkSearch, ChunkVectorSearch, Document, DocumentFilter, DocumentName, DocumentRow,
    DocumentWrite, DocumentWritten, EmbeddingClaim, EmbeddingOutcome, EmbeddingWork, IndexClaim,
    IndexOutcome, KnowledgeStore, Scope, StoreFuture, Timestamp,
};
use crate::text_search::tsquery_string;

use super::change::change;
use super::{PostgresStore, lock_number, step};

/// The expression of the index on the terms of chunks.
const TERMS: &str = "array_to_tsvector(string_to_array(scope || ' ' || terms, ' '))";

impl TextIndex for Postgres {
    fn push_matches(query: &mut Statement<Self>, scope: &str, terms: &[String], limit: u32) {
        let words = std::iter::once(tsquery_string(scope));
        let words: Vec<String> = words
            .chain(terms.iter().map(|term| tsquery_string(term)))
            .collect();
        query.push("(SELECT id FROM tool_store.knowledge_chunk WHERE ");
        query.push(TERMS).push(" @@ CAST(");
        query.bind(words.join(" & ")).push(" AS tsquery)");
        query.limit(Some(limit)).push(")");
    }
}

/// Returns the advisory lock of a transaction that writes a document, so that two transactions do not both insert its row.
fn lock(name: &DocumentName) -> i64 {
    let (workspace, file) = (name.workspace().as_str(), name.file());
    lock_number(&sha256(&["knowledge", workspace, file]))
}

impl KnowledgeStore for PostgresStore {
    fn write_document(&self, write: DocumentWrite) -> StoreFuture<'_, DocumentWritten> {
        step(async move {
            write.check()?;
            let locks = || vec![lock(&write.name)];
            change!(self, locks(), db => shared::write(db, &write).await)
        })
    }

    fn document<'a>(&'a self, name: &'a DocumentName) -> StoreFuture<'a, Option<Document>> {
        step(async move { shared::document(&mut &*self, name).await })
    }

    fn list_documents<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a DocumentFilter,
    ) -> StoreFuture<'a, Vec<DocumentRow>> {
        step(async move { shared::list(&mut &*self, scope, filter).await })
    }

    fn remove_document<'a>(&'a self, name: &'a DocumentName) -> StoreFuture<'a, bool> {
        step(async move { change!(self, Vec::new(), db => shared::remove(db, name).await) })
    }

    fn search_chunks<'a>(&'a self, search: ChunkSearch<'a>) -> StoreFuture<'a, Vec<ChunkHit>> {
        step(async move { shared::search(&mut &*self, &search).await })
    }

    fn claim_document<'a>(
        &'a self,
        scope: Scope<'a>,
        claim: IndexClaim,
    ) -> StoreFuture<'a, Option<Document>> {
        step(async move { change!(self, Vec::new(), db => shared::claim(db, scope, &claim).await) })
    }

    fn extend_index<'a>(
        &'a self,
        name: &'a DocumentName,
        token: &'a str,
        lease: Duration,
        at: Timestamp,
    ) -> StoreFuture<'a, bool> {
        step(async move {
            change!(self, Vec::new(), db => shared::extend(db, name, token, lease, at).await)
        })
    }

    fn finish_index<'a>(
        &'a self,
        name: &'a DocumentName,
        token: &'a str,
        outcome: IndexOutcome,
        at: Timestamp,
    ) -> StoreFuture<'a, bool> {
        step(async move {
            change!(self, Vec::new(), db => shared::finish(db, name, token, &outcome, at).await)
        })
    }

    fn nearest_chunks<'a>(
        &'a self,
        search: ChunkVectorSearch<'a>,
    ) -> StoreFuture<'a, Vec<ChunkHit>> {
        step(async move { shared::nearest(&mut &*self, &search).await })
    }

    fn claim_embedding<'a>(
        &'a self,
        scope: Scope<'a>,
        claim: EmbeddingClaim,
    ) -> StoreFuture<'a, Option<EmbeddingWork>> {
        step(async move {
            change!(self, Vec::new(), db => shared::claim_embedding(db, scope, &claim).await)
        })
    }

    fn finish_embedding<'a>(
        &'a self,
        name: &'a DocumentName,
        token: &'a str,
        outcome: EmbeddingOutcome,
        at: Timestamp,
    ) -> StoreFuture<'a, bool> {
        step(async move {
            change!(self, Vec::new(), db => shared::finish_embedding(db, name, token, &outcome, at).await)
        })
    }

    fn renew_embeddings<'a>(
        &'a self,
        scope: Scope<'a>,
        model: &'a str,
        limit: u32,
        at: Timestamp,
    ) -> StoreFuture<'a, u64> {
        step(async move {
            change!(self, Vec::new(), db => shared::renew_embeddings(db, scope, model, limit, at).await)
        })
    }
}
