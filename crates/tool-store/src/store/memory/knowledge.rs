//! In-memory documents.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{MemoryStore, Tables, limited};
use crate::store::knowledge::best_chunks;
use crate::store::{
    ChunkHit, ChunkSearch, Document, DocumentFilter, DocumentName, DocumentRow, DocumentWrite,
    DocumentWriteMode, DocumentWritten, IndexClaim, IndexOutcome, KnowledgeStore, Scope,
    StoreError, StoreFuture, Timestamp, Workspace,
};
use crate::text_search::{Candidate, index_text, query_terms};

struct Stored {
    document: Document,
    /// The chunks with their terms.
    chunks: Vec<(String, String)>,
}

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
                let chunks = chunks.into_iter();
                let chunks = chunks.map(|chunk| (index_text(&chunk), chunk));
                stored.chunks = chunks.map(|(terms, chunk)| (chunk, terms)).collect();
                stored.document.text = text;
            }
            IndexOutcome::Failed(_) => stored.chunks.clear(),
            IndexOutcome::Retry(_) => {}
        }
        true
    }

    fn search(&self, search: &ChunkSearch<'_>) -> Vec<ChunkHit> {
        let rows = self.0.iter();
        let rows = rows.filter(|(name, _)| name.workspace() == search.workspace);
        let all: Vec<Candidate<(&DocumentName, usize)>> = rows
            .flat_map(|(name, stored)| {
                let chunks = stored.chunks.iter().enumerate();
                chunks.map(move |(place, (_, terms))| Candidate {
                    key: (name, place),
                    terms: terms.clone(),
                })
            })
            .collect();
        let total = super::count(all.len());
        let best = best_chunks(&query_terms(search.query), all, total, search.limit);
        let hits = best.into_iter().filter_map(|((name, place), score)| {
            let (content, _) = self.0.get(name)?.chunks.get(place)?;
            Some(ChunkHit {
                file: name.file().to_owned(),
                index: u32::try_from(place).unwrap_or(u32::MAX),
                content: content.clone(),
                score,
            })
        });
        hits.collect()
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
        self.step(move |tables| Ok(tables.documents.0.remove(name).is_some()))
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
}
