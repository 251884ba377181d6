//! Memories and notes in PostgreSQL.

use crate::digest::sha256;
use crate::sql::statement::SqlChange as _;
use crate::sql::{long_term as shared, note};
use crate::store::{
    LongTermStore, MemoryCorrection, MemoryFilter, MemoryHit, MemoryQuery, MemoryRow, MemoryScope,
    MemoryVector, NewMemory, NewNote, NoteBlock, Remembered, Scope, StoreFuture, ThreadId,
    Workspace,
};

use super::change::{change, read_planned};
use super::{Fault, PostgresStore, lock_number, step};

mod index;
mod vector;

pub use index::{MemoryIndex, MemoryIndexing};

/// Returns the advisory lock of a transaction that stores, corrects or embeds a memory, so that two transactions do not store the same content twice.
pub(super) fn lock(workspace: &Workspace) -> i64 {
    lock_number(&sha256(&["memory", workspace.as_str()]))
}

/// Returns the advisory lock of a transaction that appends a note.
fn note_lock(thread: &ThreadId) -> i64 {
    let (workspace, conversation) = (thread.workspace().as_str(), thread.conversation());
    lock_number(&sha256(&["note", workspace, conversation]))
}

impl LongTermStore for PostgresStore {
    fn remember(&self, new: NewMemory) -> StoreFuture<'_, Remembered> {
        step(async move {
            new.check()?;
            self.contents().check_unsealed()?;
            let locks = || vec![lock(new.scope.workspace())];
            change!(self, locks(), db => shared::remember(db, &new).await)
        })
    }

    fn search_memories<'a>(
        &'a self,
        reader: &'a MemoryScope,
        query: &'a MemoryQuery,
    ) -> StoreFuture<'a, Vec<MemoryHit>> {
        step(async move { read_planned!(self, db => shared::search(db, reader, query).await) })
    }

    fn nearest_memories<'a>(
        &'a self,
        reader: &'a MemoryScope,
        vector: &'a MemoryVector,
        query: &'a MemoryQuery,
    ) -> StoreFuture<'a, Vec<MemoryHit>> {
        step(async move {
            read_planned!(self, db => shared::nearest_memories(db, reader, vector, query).await)
        })
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
        step(async move {
            correction.check()?;
            self.contents().check_unsealed()?;
            let locks = || vec![lock(workspace)];
            change!(self, locks(), db => shared::correct(db, workspace, id, correction).await)
        })
    }

    fn remove_memory<'a>(&'a self, workspace: &'a Workspace, id: &'a str) -> StoreFuture<'a, bool> {
        step(async move {
            let removed: Result<u64, Fault> = change!(self, Vec::new(), db => {
                db.write(shared::removal(workspace, "id", id)).await
            });
            Ok(removed? > 0)
        })
    }

    fn remove_memories<'a>(&'a self, scope: &'a MemoryScope) -> StoreFuture<'a, u64> {
        step(async move {
            change!(self, Vec::new(), db => db.write(shared::removal_of_scope(scope)).await)
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
        step(async move {
            let locks = || vec![lock(workspace)];
            change!(self, locks(), db => shared::embed(db, workspace, id, hash, vector).await)
        })
    }

    fn append_note(&self, note: NewNote) -> StoreFuture<'_, NoteBlock> {
        step(async move {
            note.check()?;
            self.contents().check_unsealed()?;
            let locks = || vec![note_lock(&note.thread)];
            change!(self, locks(), db => note::append(db, &note).await)
        })
    }

    fn notes<'a>(&'a self, thread: &'a ThreadId) -> StoreFuture<'a, NoteBlock> {
        step(async move { note::notes(&mut &*self, thread).await })
    }
}
