//! In-memory store of documents.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{MemoryStore, Tables, limited};
use crate::store::knowledge::{best_chunks, rounded};
use crate::store::{
    ChunkEmbedding, ChunkHit, ChunkSearch, ChunkText, ChunkVectorSearch, Document, DocumentFilter,
    DocumentName, DocumentRow, DocumentWrite, DocumentWriteMode, DocumentWritten, EmbeddingClaim,
    EmbeddingOutcome, EmbeddingWork, IndexClaim, IndexOutcome, KnowledgeStore, MemoryVector, Scope,
    StoreError, StoreFuture, Timestamp, Workspace,
};
use crate::text_search::{Candidate, index_text, query_terms};
use crate::vectors::nearest;

struct Chunk {
    content: String,
    terms: String,
    vector: Option<MemoryVector>,
}

impl Chunk {
    fn new(content: String) -> Self {
        Self {
            terms: index_text(&content),
            vector: None,
            content,
        }
    }

    fn has_embedding_of(&self, model: &str) -> bool {
        let vector = self.vector.as_ref();
        vector.is_some_and(|vector| vector.model() == model)
    }
}

struct Stored {
    document: Document,
    chunks: Vec<Chunk>,
}

impl Stored {
    /// Replaces the chunks. A chunk with the same text at the same position is kept with its embedding.
    fn replace_chunks(&mut self, contents: Vec<String>) {
        let mut old = std::mem::take(&mut self.chunks).into_iter();
        let chunks = contents.into_iter().map(|content| match old.next() {
            Some(chunk) if chunk.content == content => chunk,
            _ => Chunk::new(content),
        });
        self.chunks = chunks.collect();
    }

    /// Returns the chunks without an embedding of a model.
    fn unembedded(&self, model: &str) -> impl Iterator<Item = ChunkText> {
        let chunks = self.chunks.iter().zip(0_u32..);
        let chunks = chunks.filter(move |(chunk, _)| !chunk.has_embedding_of(model));
        chunks.map(|(chunk, index)| ChunkText {
            index,
            content: chunk.content.clone(),
        })
    }
}

/// A document, and the position of a chunk in it.
type ChunkKey<'a> = (&'a DocumentName, usize);

#[derive(Default)]
pub(super) struct Documents(BTreeMap<DocumentName, Stored>);

impl Documents {
    fn write(&mut self, new: DocumentWrite) -> Result<DocumentWritten, StoreError> {
        new.check()?;
        let (name, ready) = (new.name.clone(), new.at);
        let stored = self.0.get(&name).map(|Stored { document, .. }| {
            let before = match new.mode {
                DocumentWriteMode::Append => document.content.clone(),
                DocumentWriteMode::Replace => Vec::new(),
            };
            (document.row.clone(), before)
        });
        let (written, content) = DocumentRow::write(stored, new, ready)?;
        if let DocumentWritten::Stored { row, .. } = &written {
            let document = Document {
                row: (**row).clone(),
                content,
                text: None,
            };
            let chunks = self.0.remove(&name).map(|stored| stored.chunks);
            let chunks = chunks.unwrap_or_default();
            self.0.insert(name, Stored { document, chunks });
        }
        Ok(written)
    }

    /// Returns a document without its content.
    pub(super) fn find(&self, name: &DocumentName) -> Option<&DocumentRow> {
        self.0.get(name).map(|stored| &stored.document.row)
    }

    /// Removes a document. Returns whether it existed.
    pub(super) fn remove(&mut self, name: &DocumentName) -> bool {
        self.0.remove(name).is_some()
    }

    fn claim(&mut self, scope: Scope<'_>, claim: &IndexClaim) -> Option<Document> {
        loop {
            let rows = self.0.values_mut();
            let ready = rows.filter(|stored| {
                let row = &stored.document.row;
                scope.covers(row.workspace()) && row.is_ready(claim.at)
            });
            let stored = ready.min_by_key(|stored| stored.document.row.ready)?;
            if stored.document.row.claim(claim, IndexClaim::token()) {
                return Some(stored.document.clone());
            }
            stored.chunks.clear();
        }
    }

    fn finish(
        &mut self,
        name: &DocumentName,
        token: &str,
        outcome: IndexOutcome,
        at: Timestamp,
    ) -> bool {
        let Some(stored) = self.0.get_mut(name) else {
            return false;
        };
        if !stored.document.row.finish(token, &outcome, at, at) {
            return false;
        }
        match outcome {
            IndexOutcome::Indexed { text, chunks } => {
                stored.replace_chunks(chunks);
                stored.document.text = text;
            }
            IndexOutcome::Failed(_) => stored.chunks.clear(),
            IndexOutcome::Retry(_) => {}
        }
        true
    }

    /// Returns the chunks of a workspace, with their keys.
    fn chunks(&self, workspace: &Workspace) -> impl Iterator<Item = (ChunkKey<'_>, &Chunk)> {
        let rows = self.0.iter();
        let rows = rows.filter(move |(name, _)| name.workspace() == workspace);
        rows.flat_map(|(name, stored)| {
            let chunks = stored.chunks.iter().enumerate();
            chunks.map(move |(place, chunk)| ((name, place), chunk))
        })
    }

    fn hits(&self, best: Vec<(ChunkKey<'_>, f64)>) -> Vec<ChunkHit> {
        let hits = best.into_iter().filter_map(|((name, place), score)| {
            let chunk = self.0.get(name)?.chunks.get(place)?;
            Some(ChunkHit {
                file: name.file().to_owned(),
                index: u32::try_from(place).unwrap_or(u32::MAX),
                content: chunk.content.clone(),
                score,
            })
        });
        hits.collect()
    }

    fn search(&self, search: &ChunkSearch<'_>) -> Vec<ChunkHit> {
        let all = self.chunks(search.workspace);
        let all: Vec<Candidate<ChunkKey<'_>>> = all
            .map(|(key, chunk)| Candidate {
                key,
                terms: chunk.terms.clone(),
            })
            .collect();
        let total = super::count(all.len());
        self.hits(best_chunks(
            &query_terms(search.query),
            all,
            total,
            search.limit,
        ))
    }

    fn nearest(&self, search: &ChunkVectorSearch<'_>) -> Vec<ChunkHit> {
        let model = search.vector.model();
        let chunks = self.chunks(search.workspace);
        let chunks = chunks.filter(|(_, chunk)| chunk.has_embedding_of(model));
        let vectors =
            chunks.filter_map(|(key, chunk)| Some((key, chunk.vector.as_ref()?.values())));
        let limit = usize::try_from(search.limit).unwrap_or(usize::MAX);
        let best = nearest(search.vector.values(), vectors, limit).into_iter();
        self.hits(best.map(|(key, cosine)| (key, rounded(cosine))).collect())
    }

    fn claim_embedding(
        &mut self,
        scope: Scope<'_>,
        claim: &EmbeddingClaim,
    ) -> Option<EmbeddingWork> {
        let most = usize::try_from(claim.most_chunks).unwrap_or(usize::MAX);
        loop {
            let rows = self.0.values_mut();
            let ready = rows.filter(|stored| {
                let row = &stored.document.row;
                scope.covers(row.workspace()) && row.embedding.is_ready(claim.at)
            });
            let stored = ready.min_by_key(|stored| stored.document.row.embedding.ready)?;
            let chunks: Vec<ChunkText> = stored.unembedded(&claim.model).take(most).collect();
            let row = &mut stored.document.row;
            if chunks.is_empty() {
                row.embedding.complete(&claim.model);
                continue;
            }
            row.embedding.claim(claim, IndexClaim::token());
            let row = row.clone();
            return Some(EmbeddingWork { row, chunks });
        }
    }

    fn finish_embedding(
        &mut self,
        name: &DocumentName,
        token: &str,
        outcome: EmbeddingOutcome,
        at: Timestamp,
    ) -> bool {
        let Some(stored) = self.0.get_mut(name) else {
            return false;
        };
        if !stored.document.row.embedding.finish(token, &outcome, at) {
            return false;
        }
        let model = outcome.model().map(str::to_owned);
        if let EmbeddingOutcome::Embedded(embeddings) = outcome {
            for ChunkEmbedding { index, vector } in embeddings {
                let place = usize::try_from(index).ok();
                if let Some(chunk) = place.and_then(|place| stored.chunks.get_mut(place)) {
                    chunk.vector = Some(vector);
                }
            }
        }
        if let Some(model) = model
            && stored.unembedded(&model).next().is_none()
        {
            stored.document.row.embedding.complete(&model);
        }
        true
    }

    fn renew_embeddings(
        &mut self,
        scope: Scope<'_>,
        model: &str,
        limit: u32,
        at: Timestamp,
    ) -> u64 {
        let rows = self.0.values_mut();
        let rows = rows.filter(|stored| {
            scope.covers(stored.document.row.workspace()) && !stored.chunks.is_empty()
        });
        let renewed = rows.filter_map(|stored| {
            let renewed = stored.document.row.embedding.renew(model, at);
            renewed.then_some(())
        });
        super::count(renewed.take(limited(Some(limit))).count())
    }

    /// Removes the name of a user, for the erasure of the user.
    pub(super) fn erase_user(&mut self, workspace: &Workspace, user: &str) {
        for stored in self.0.values_mut() {
            let row = &mut stored.document.row;
            if row.workspace() == workspace && row.principal.as_deref() == Some(user) {
                row.principal = None;
            }
        }
    }
}

impl Tables {
    fn list_documents(&self, scope: Scope<'_>, filter: &DocumentFilter) -> Vec<DocumentRow> {
        let rows = self.documents.0.values().map(|stored| &stored.document.row);
        let rows = rows.filter(|row| scope.covers(row.workspace()) && filter.admits(row));
        rows.take(limited(filter.limit)).cloned().collect()
    }
}

impl KnowledgeStore for MemoryStore {
    fn write_document(&self, write: DocumentWrite) -> StoreFuture<'_, DocumentWritten> {
        self.step(|tables| tables.documents.write(write))
    }

    fn document<'a>(&'a self, name: &'a DocumentName) -> StoreFuture<'a, Option<Document>> {
        self.step(move |tables| {
            let stored = tables.documents.0.get(name);
            Ok(stored.map(|stored| stored.document.clone()))
        })
    }

    fn list_documents<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a DocumentFilter,
    ) -> StoreFuture<'a, Vec<DocumentRow>> {
        self.step(move |tables| Ok(tables.list_documents(scope, filter)))
    }

    fn remove_document<'a>(&'a self, name: &'a DocumentName) -> StoreFuture<'a, bool> {
        self.step(move |tables| Ok(tables.documents.remove(name)))
    }

    fn search_chunks<'a>(&'a self, search: ChunkSearch<'a>) -> StoreFuture<'a, Vec<ChunkHit>> {
        self.step(move |tables| Ok(tables.documents.search(&search)))
    }

    fn claim_document<'a>(
        &'a self,
        scope: Scope<'a>,
        claim: IndexClaim,
    ) -> StoreFuture<'a, Option<Document>> {
        self.step(move |tables| Ok(tables.documents.claim(scope, &claim)))
    }

    fn extend_index<'a>(
        &'a self,
        name: &'a DocumentName,
        token: &'a str,
        lease: Duration,
        at: Timestamp,
    ) -> StoreFuture<'a, bool> {
        self.step(move |tables| {
            let stored = tables.documents.0.get_mut(name);
            Ok(stored.is_some_and(|stored| stored.document.row.extend(token, lease, at)))
        })
    }

    fn finish_index<'a>(
        &'a self,
        name: &'a DocumentName,
        token: &'a str,
        outcome: IndexOutcome,
        at: Timestamp,
    ) -> StoreFuture<'a, bool> {
        self.step(move |tables| Ok(tables.documents.finish(name, token, outcome, at)))
    }

    fn nearest_chunks<'a>(
        &'a self,
        search: ChunkVectorSearch<'a>,
    ) -> StoreFuture<'a, Vec<ChunkHit>> {
        self.step(move |tables| Ok(tables.documents.nearest(&search)))
    }

    fn claim_embedding<'a>(
        &'a self,
        scope: Scope<'a>,
        claim: EmbeddingClaim,
    ) -> StoreFuture<'a, Option<EmbeddingWork>> {
        self.step(move |tables| Ok(tables.documents.claim_embedding(scope, &claim)))
    }

    fn finish_embedding<'a>(
        &'a self,
        name: &'a DocumentName,
        token: &'a str,
        outcome: EmbeddingOutcome,
        at: Timestamp,
    ) -> StoreFuture<'a, bool> {
        self.step(move |tables| {
            let documents = &mut tables.documents;
            Ok(documents.finish_embedding(name, token, outcome, at))
        })
    }

    fn renew_embeddings<'a>(
        &'a self,
        scope: Scope<'a>,
        model: &'a str,
        limit: u32,
        at: Timestamp,
    ) -> StoreFuture<'a, u64> {
        self.step(move |tables| Ok(tables.documents.renew_embeddings(scope, model, limit, at)))
    }
}
