//! Documents in SQLite, with FTS5.

use std::time::Duration;

use sqlx::Sqlite;

use crate::sql::knowledge::{self as shared, TextIndex};
use crate::sql::statement::Statement;
use crate::store::{
    ChunkHit, ChunkSearch, ChunkVectorSearch, Document, DocumentFilter, DocumentName, DocumentRow,
    DocumentWrite, DocumentWritten, EmbeddingClaim, EmbeddingOutcome, EmbeddingWork, IndexClaim,
    IndexOutcome, KnowledgeStore, Scope, StoreFuture, Timestamp,
};
use crate::text_search::fts5_string;

use super::{SqliteStore, step};

impl TextIndex for Sqlite {
    fn push_matches(query: &mut Statement<Self>, scope: &str, terms: &[String], limit: u32) {
        let terms: Vec<String> = terms.iter().map(|term| fts5_string(term)).collect();
        let terms = terms.join(" AND ");
        let matches = format!("scope : {} AND terms : ({terms})", fts5_string(scope));
        query.push(
            "SELECT rowid FROM (SELECT rowid FROM knowledge_text WHERE knowledge_text MATCH ",
        );
        query.bind(matches).limit(Some(limit)).push(")");
    }
}

impl KnowledgeStore for SqliteStore {
    fn write_document(&self, write: DocumentWrite) -> StoreFuture<'_, DocumentWritten> {
        step(async move {
            write.check()?;
            let written =
                self.change(move |db| Box::pin(async move { shared::write(db, &write).await }));
            written.await
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
        let name = name.clone();
        step(async move {
            let removed =
                self.change(move |db| Box::pin(async move { shared::remove(db, &name).await }));
            let removed = removed.await?;
            self.forget().await?;
            Ok(removed)
        })
    }

    fn search_chunks<'a>(&'a self, search: ChunkSearch<'a>) -> StoreFuture<'a, Vec<ChunkHit>> {
        step(async move { shared::search(&mut &*self, &search).await })
    }

    fn claim_document<'a>(
        &'a self,
        scope: Scope<'a>,
        claim: IndexClaim,
    ) -> StoreFuture<'a, Option<Document>> {
        step(async move {
            // An idle worker polls often, so the write lock is taken only if a document is ready.
            if self.has_none(shared::ready(scope, claim.at).query).await? {
                return Ok(None);
            }
            let own = scope.workspace().cloned();
            let claimed = self.change(move |db| {
                Box::pin(async move {
                    let scope = own.as_ref().map_or(Scope::All, Scope::Workspace);
                    shared::claim(db, scope, &claim).await
                })
            });
            claimed.await
        })
    }

    fn extend_index<'a>(
        &'a self,
        name: &'a DocumentName,
        token: &'a str,
        lease: Duration,
        at: Timestamp,
    ) -> StoreFuture<'a, bool> {
        let (name, token) = (name.clone(), token.to_owned());
        // In the order of arrival, this change could run only after the lease has expired.
        step(self.change_first(move |db| {
            Box::pin(async move { shared::extend(db, &name, &token, lease, at).await })
        }))
    }

    fn finish_index<'a>(
        &'a self,
        name: &'a DocumentName,
        token: &'a str,
        outcome: IndexOutcome,
        at: Timestamp,
    ) -> StoreFuture<'a, bool> {
        let (name, token) = (name.clone(), token.to_owned());
        step(self.change(move |db| {
            Box::pin(async move { shared::finish(db, &name, &token, &outcome, at).await })
        }))
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
            // An idle worker polls often, so the write lock is taken only if a document is ready.
            if self
                .has_none(shared::ready_to_embed(scope, claim.at).query)
                .await?
            {
                return Ok(None);
            }
            let own = scope.workspace().cloned();
            let claimed = self.change(move |db| {
                Box::pin(async move {
                    let scope = own.as_ref().map_or(Scope::All, Scope::Workspace);
                    shared::claim_embedding(db, scope, &claim).await
                })
            });
            claimed.await
        })
    }

    fn finish_embedding<'a>(
        &'a self,
        name: &'a DocumentName,
        token: &'a str,
        outcome: EmbeddingOutcome,
        at: Timestamp,
    ) -> StoreFuture<'a, bool> {
        let (name, token) = (name.clone(), token.to_owned());
        step(self.change(move |db| {
            Box::pin(async move { shared::finish_embedding(db, &name, &token, &outcome, at).await })
        }))
    }

    fn renew_embeddings<'a>(
        &'a self,
        scope: Scope<'a>,
        model: &'a str,
        limit: u32,
        at: Timestamp,
    ) -> StoreFuture<'a, u64> {
        let (own, model) = (scope.workspace().cloned(), model.to_owned());
        step(self.change(move |db| {
            Box::pin(async move {
                let scope = own.as_ref().map_or(Scope::All, Scope::Workspace);
                shared::renew_embeddings(db, scope, &model, limit, at).await
            })
        }))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::sqlite::tests::plan;
    use crate::store::{MemoryVector, Workspace};

    // A search reads its results by their numbers, and does not read all chunks of the workspace.
    #[tokio::test]
    async fn results_of_searches_are_read_by_number() {
        let store = SqliteStore::in_memory().await.unwrap();
        let workspace = Workspace::new("acme");
        let vector = MemoryVector::new("m", vec![1.0, 2.0]).unwrap();
        let search = ChunkVectorSearch {
            workspace: &workspace,
            vector: &vector,
            limit: 20,
        };
        let ids: Vec<u64> = (1..=256).collect();
        let best: Vec<(u64, f64)> = ids.iter().map(|id| (*id, 1.0)).collect();
        let terms = ["tea".to_owned(), "milk".to_owned()];
        for statement in [
            shared::candidates::<Sqlite>(&workspace, &terms),
            shared::texts(&workspace, &best),
            shared::embeddings(&search, &ids),
        ] {
            let plan = plan(&store, statement.query.sql().as_str()).await;
            assert!(plan.contains("USING INTEGER PRIMARY KEY"), "{plan}");
            assert!(!plan.contains("(workspace=?"), "{plan}");
        }
    }
}
