//! Memories and notes in SQLite.

use crate::sql::{long_term as shared, note};
use crate::store::{
    LongTermStore, MemoryCorrection, MemoryFilter, MemoryHit, MemoryQuery, MemoryRow, MemoryScope,
    MemoryVector, NewMemory, NewNote, NoteBlock, Remembered, Scope, StoreFuture, ThreadId,
    Workspace,
};

use crate::sql::statement::SqlChange as _;

use super::{SqliteStore, step};

mod vector;

pub(super) use vector::pack_all;
use vector::removal_of_blocks;

impl LongTermStore for SqliteStore {
    fn remember(&self, new: NewMemory) -> StoreFuture<'_, Remembered> {
        step(async move {
            new.check()?;
            self.contents.check_unsealed()?;
            let remembered =
                self.change(move |db| Box::pin(async move { shared::remember(db, &new).await }));
            remembered.await
        })
    }

    fn search_memories<'a>(
        &'a self,
        reader: &'a MemoryScope,
        query: &'a MemoryQuery,
    ) -> StoreFuture<'a, Vec<MemoryHit>> {
        step(async move { shared::search(&mut &*self, reader, query).await })
    }

    fn nearest_memories<'a>(
        &'a self,
        reader: &'a MemoryScope,
        vector: &'a MemoryVector,
        query: &'a MemoryQuery,
    ) -> StoreFuture<'a, Vec<MemoryHit>> {
        step(async move { shared::nearest_memories(&mut &*self, reader, vector, query).await })
    }

    fn memory<'a>(
        &'a self,
        workspace: &'a Workspace,
        id: &'a str,
    ) -> StoreFuture<'a, Option<MemoryRow>> {
        step(async move { shared::memory(&mut &*self, workspace, id).await })
    }

    fn list_memories<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a MemoryFilter,
    ) -> StoreFuture<'a, Vec<MemoryRow>> {
        step(async move { shared::list(&mut &*self, scope, filter).await })
    }

    fn correct_memory<'a>(
        &'a self,
        workspace: &'a Workspace,
        id: &'a str,
        correction: &'a MemoryCorrection,
    ) -> StoreFuture<'a, MemoryRow> {
        let (workspace, id, correction) = (workspace.clone(), id.to_owned(), correction.clone());
        step(async move {
            correction.check()?;
            self.contents.check_unsealed()?;
            let corrected = self.change(move |db| {
                Box::pin(async move { shared::correct(db, &workspace, &id, &correction).await })
            });
            let corrected = corrected.await?;
            self.forget().await?;
            Ok(corrected)
        })
    }

    fn remove_memory<'a>(&'a self, workspace: &'a Workspace, id: &'a str) -> StoreFuture<'a, bool> {
        let removal = shared::removal(workspace, "id", id);
        step(async move {
            let removed = self.change(|db| Box::pin(async move { db.write(removal).await }));
            let removed = removed.await?;
            self.forget().await?;
            Ok(removed > 0)
        })
    }

    fn remove_memories<'a>(&'a self, scope: &'a MemoryScope) -> StoreFuture<'a, u64> {
        let (removal, blocks) = (shared::removal_of_scope(scope), removal_of_blocks(scope));
        step(async move {
            let removed = self.change(|db| {
                Box::pin(async move {
                    db.write(blocks).await?;
                    db.write(removal).await
                })
            });
            let removed = removed.await?;
            self.forget().await?;
            Ok(removed)
        })
    }

    fn memories_to_embed<'a>(
        &'a self,
        workspace: &'a Workspace,
        model: &'a str,
        limit: u32,
    ) -> StoreFuture<'a, Vec<MemoryRow>> {
        step(async move { shared::unembedded(&mut &*self, workspace, model, limit).await })
    }

    fn embed_memory<'a>(
        &'a self,
        workspace: &'a Workspace,
        id: &'a str,
        hash: &'a str,
        vector: &'a MemoryVector,
    ) -> StoreFuture<'a, bool> {
        let (workspace, vector) = (workspace.clone(), vector.clone());
        let (id, hash) = (id.to_owned(), hash.to_owned());
        step(self.change(move |db| {
            Box::pin(async move { shared::embed(db, &workspace, &id, &hash, &vector).await })
        }))
    }

    fn append_note(&self, note: NewNote) -> StoreFuture<'_, NoteBlock> {
        step(async move {
            note.check()?;
            self.contents.check_unsealed()?;
            let appended =
                self.change(move |db| Box::pin(async move { note::append(db, &note).await }));
            appended.await
        })
    }

    fn notes<'a>(&'a self, thread: &'a ThreadId) -> StoreFuture<'a, NoteBlock> {
        step(async move { note::notes(&mut &*self, thread).await })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use sqlx::Sqlite;

    use super::*;
    use crate::sqlite::tests::plan;
    use crate::store::Timestamp;

    // A search reads its results by their numbers. An index on the scope would read all memories of the scope, which took 20 ms for 100,000 memories.
    #[tokio::test]
    async fn results_of_searches_are_read_by_number() {
        let store = SqliteStore::in_memory().await.unwrap();
        let reader = MemoryScope::agent(&Workspace::new("acme"), "a").unwrap();
        let now = Timestamp::from_millis(0);
        let numbers: Vec<u64> = (1..=256).collect();
        for statement in [
            shared::candidates::<Sqlite>(&reader, now, &numbers),
            shared::hits(&reader, now, &numbers),
        ] {
            let plan = plan(&store, statement.query.sql().as_str()).await;
            let wanted = "SEARCH m USING INTEGER PRIMARY KEY";
            assert!(plan.contains(wanted), "{plan}");
        }
    }
}
