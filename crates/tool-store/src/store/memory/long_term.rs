//! In-memory store of the memories of agents, and of the notes of threads.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::{MemoryStore, Tables, count, limited};
use crate::store::long_term::{CANDIDATES, best, ranked, weighted};
use crate::store::{
    LongTermStore, MemoryCorrection, MemoryEvent, MemoryFilter, MemoryHit, MemoryQuery, MemoryRow,
    MemoryScope, MemoryVector, NewMemory, NewNote, NoteBlock, Remembered, Scope, StoreError,
    StoreFuture, ThreadId, Timestamp, Workspace, new_row_id,
};
use crate::text_search::{index_text, query_terms};
use crate::vectors::{Candidates, code, nearest};

struct Entry {
    row: MemoryRow,
    terms: String,
    vector: Option<Stored>,
}

/// An embedding and its code.
#[derive(Clone)]
struct Stored {
    vector: MemoryVector,
    code: Vec<u64>,
}

impl From<MemoryVector> for Stored {
    fn from(vector: MemoryVector) -> Self {
        let code = code(vector.values());
        Self { vector, code }
    }
}

/// Returns the numbers of the entries whose embeddings are nearest to a vector of the same model and number of dimensions, and the cosines, best
/// first.
fn nearest_entries<'a>(
    vector: &MemoryVector,
    entries: impl Iterator<Item = (u64, &'a Entry)>,
    limit: usize,
) -> Vec<(u64, f64)> {
    let values = vector.values();
    let mut compared: BTreeMap<u64, &Stored> = BTreeMap::new();
    // Each scope has separate candidates, so that a small scope is searched exactly even if the search also covers a large scope.
    let mut scopes: BTreeMap<&MemoryScope, Candidates<u64>> = BTreeMap::new();
    for (number, entry) in entries {
        let stored = entry.vector.as_ref().filter(|stored| {
            stored.vector.model() == vector.model() && stored.vector.values().len() == values.len()
        });
        if let Some(stored) = stored {
            let candidates = scopes.entry(&entry.row.scope);
            let candidates = candidates.or_insert_with(|| Candidates::new(values, limit));
            candidates.add(number, &stored.code);
            compared.insert(number, stored);
        }
    }
    let numbers = scopes.into_values().flat_map(Candidates::keys);
    let mut numbers: Vec<u64> = numbers.collect();
    numbers.sort_unstable_by_key(|number| Reverse(*number));
    let vectors = numbers.into_iter().filter_map(|number| {
        let stored = compared.get(&number)?;
        Some((number, stored.vector.values()))
    });
    nearest(values, vectors, limit)
}

#[derive(Default)]
pub(super) struct Memories {
    rows: BTreeMap<u64, Entry>,
    by_id: BTreeMap<(Workspace, String), u64>,
    by_hash: BTreeMap<(MemoryScope, String), u64>,
    /// The rows of each scope.
    scopes: BTreeMap<MemoryScope, BTreeSet<u64>>,
    last: u64,
    notes: BTreeMap<ThreadId, NoteBlock>,
}

impl Memories {
    fn insert(&mut self, row: MemoryRow, vector: Option<Stored>) {
        self.last += 1;
        let id = (row.scope.workspace().clone(), row.id.clone());
        self.by_id.insert(id, self.last);
        self.scopes
            .entry(row.scope.clone())
            .or_default()
            .insert(self.last);
        self.put(self.last, row, vector);
    }

    /// Writes a row and its hash.
    fn put(&mut self, number: u64, row: MemoryRow, vector: Option<Stored>) {
        let terms = index_text(&row.content);
        self.by_hash
            .insert((row.scope.clone(), row.hash.clone()), number);
        self.rows.insert(number, Entry { row, terms, vector });
    }

    fn change(&mut self, number: u64, row: MemoryRow, vector: Option<Stored>) {
        if let Some(old) = self.rows.get(&number) {
            let key = (old.row.scope.clone(), old.row.hash.clone());
            self.by_hash.remove(&key);
        }
        self.put(number, row, vector);
    }

    fn remove(&mut self, number: u64) {
        let Some(Entry { row, .. }) = self.rows.remove(&number) else {
            return;
        };
        self.by_id
            .remove(&(row.scope.workspace().clone(), row.id.clone()));
        if let Some(numbers) = self.scopes.get_mut(&row.scope) {
            numbers.remove(&number);
        }
        self.by_hash.remove(&(row.scope, row.hash));
    }

    fn number(&self, workspace: &Workspace, id: &str) -> Option<u64> {
        let key = (workspace.clone(), id.to_owned());
        self.by_id.get(&key).copied()
    }

    /// Returns the entries of the scopes that a reader reads.
    fn readable(&self, reader: &MemoryScope) -> impl Iterator<Item = (u64, &Entry)> {
        let scopes = reader.readable().into_iter();
        let numbers = scopes.filter_map(|scope| self.scopes.get(&scope)).flatten();
        numbers.filter_map(|number| Some((*number, self.rows.get(number)?)))
    }

    /// Returns the most similar memory of a scope that the new content may replace.
    fn similar(&self, new: &NewMemory) -> Option<u64> {
        let vector = new.vector.as_ref()?;
        let numbers = self.scopes.get(&new.scope)?.iter();
        let entries = numbers.filter_map(|number| Some((*number, self.rows.get(number)?)));
        let entries = entries.filter(|(_, entry)| entry.row.admits(new));
        let nearest = nearest_entries(vector, entries, 1);
        let (number, cosine) = nearest.first()?;
        (*cosine > MemoryRow::SAME).then_some(*number)
    }

    fn remember(&mut self, new: NewMemory) -> Result<Remembered, StoreError> {
        new.check()?;
        let mut row = new.clone().row(new_row_id()?);
        let equal = self.by_hash.get(&(row.scope.clone(), row.hash.clone()));
        let equal = equal.copied();
        let Some(number) = equal.or_else(|| self.similar(&new)) else {
            self.insert(row.clone(), new.vector.map(Stored::from));
            let event = MemoryEvent::Add;
            return Ok(Remembered { event, memory: row });
        };
        let stored = self
            .rows
            .get(&number)
            .map(|entry| (entry.row.clone(), entry.vector.clone()));
        let Some((stored, vector)) = stored else {
            return Err(StoreError::Corrupt(
                "a memory has an index entry and no row".to_owned(),
            ));
        };
        row = stored;
        if equal.is_some() {
            row.repeat(&new);
        } else {
            row.replace(&new);
        }
        let vector = new.vector.map(Stored::from).or(vector);
        self.change(number, row.clone(), vector);
        let event = MemoryEvent::Update;
        Ok(Remembered { event, memory: row })
    }

    fn search(&self, reader: &MemoryScope, query: &MemoryQuery) -> Vec<MemoryHit> {
        let terms = query_terms(&query.text);
        let mut found = vec![Vec::new(); terms.len()];
        for scope in reader.readable() {
            let numbers = self.scopes.get(&scope).into_iter().flatten().rev();
            let entries = numbers.filter_map(|number| Some((*number, self.rows.get(number)?)));
            let entries: Vec<(u64, &Entry)> = entries
                .filter(|(_, entry)| query.admits(&entry.row))
                .collect();
            for (term, found) in terms.iter().zip(&mut found) {
                let matches = entries
                    .iter()
                    .filter(|(_, entry)| entry.terms.split(' ').any(|word| word == term));
                found.extend(matches.map(|(number, _)| *number).take(CANDIDATES));
            }
        }
        let candidates = best(&found).into_iter().filter_map(|number| {
            let entry = self.rows.get(&number)?;
            Some((entry.row.clone(), entry.terms.clone()))
        });
        ranked(&terms, &candidates.collect::<Vec<_>>(), query)
    }

    fn nearest(
        &self,
        reader: &MemoryScope,
        vector: &MemoryVector,
        query: &MemoryQuery,
    ) -> Vec<MemoryHit> {
        let entries = self.readable(reader);
        let entries = entries.filter(|(_, entry)| query.admits(&entry.row));
        let nearest = nearest_entries(vector, entries, query.considered());
        let hits = nearest.into_iter().filter_map(|(number, cosine)| {
            let entry = self.rows.get(&number)?;
            Some((entry.row.clone(), cosine))
        });
        weighted(hits, query)
    }

    pub(super) fn correct(
        &mut self,
        workspace: &Workspace,
        id: &str,
        correction: &MemoryCorrection,
    ) -> Result<MemoryRow, StoreError> {
        correction.check()?;
        let missing = || MemoryRow::missing(id);
        let number = self.number(workspace, id).ok_or_else(missing)?;
        let entry = self.rows.get(&number).ok_or_else(missing)?;
        let mut row = entry.row.clone();
        row.correct(correction);
        let key = (row.scope.clone(), row.hash.clone());
        if self.by_hash.get(&key).is_some_and(|other| *other != number) {
            return Err(row.duplicate());
        }
        let vector = entry.vector.clone().filter(|_| row.model.is_some());
        self.change(number, row.clone(), vector);
        Ok(row)
    }

    /// Returns a memory by its id.
    pub(super) fn find(&self, workspace: &Workspace, id: &str) -> Option<&MemoryRow> {
        let number = self.number(workspace, id)?;
        self.rows.get(&number).map(|entry| &entry.row)
    }

    /// Removes a memory by its id. Returns whether it existed.
    pub(super) fn remove_by_id(&mut self, workspace: &Workspace, id: &str) -> bool {
        let number = self.number(workspace, id);
        if let Some(number) = number {
            self.remove(number);
        }
        number.is_some()
    }

    fn remove_where(&mut self, mut condition: impl FnMut(&MemoryRow) -> bool, most: usize) -> u64 {
        let rows = self.rows.iter();
        let rows = rows.filter(|(_, entry)| condition(&entry.row));
        let numbers: Vec<u64> = rows.map(|(number, _)| *number).take(most).collect();
        for number in &numbers {
            self.remove(*number);
        }
        count(numbers.len())
    }

    /// Removes the notes of a thread, and keeps its memories.
    pub(super) fn remove_notes(&mut self, thread: &ThreadId) {
        self.notes.remove(thread);
    }

    /// Removes the memories that were last stored in a thread, and the notes of the thread.
    pub(super) fn erase_thread(&mut self, thread: &ThreadId) -> u64 {
        self.remove_notes(thread);
        let is_of = |row: &MemoryRow| {
            row.scope.workspace() == thread.workspace()
                && row.conversation.as_deref() == Some(thread.conversation())
        };
        self.remove_where(is_of, usize::MAX)
    }

    /// Removes the memories that were last stored for a user.
    pub(super) fn erase_user(&mut self, workspace: &Workspace, principal: &str) -> u64 {
        let is_of = |row: &MemoryRow| {
            row.scope.workspace() == workspace && row.principal.as_deref() == Some(principal)
        };
        self.remove_where(is_of, usize::MAX)
    }

    /// Removes expired memories.
    pub(super) fn purge(&mut self, now: Timestamp, most: u32) -> u64 {
        self.remove_where(|row| row.is_expired(now), limited(Some(most)))
    }
}

impl LongTermStore for MemoryStore {
    fn remember(&self, new: NewMemory) -> StoreFuture<'_, Remembered> {
        self.step(move |tables| tables.memories.remember(new))
    }

    fn search_memories<'a>(
        &'a self,
        reader: &'a MemoryScope,
        query: &'a MemoryQuery,
    ) -> StoreFuture<'a, Vec<MemoryHit>> {
        self.step(move |tables| Ok(tables.memories.search(reader, query)))
    }

    fn nearest_memories<'a>(
        &'a self,
        reader: &'a MemoryScope,
        vector: &'a MemoryVector,
        query: &'a MemoryQuery,
    ) -> StoreFuture<'a, Vec<MemoryHit>> {
        self.step(move |tables| Ok(tables.memories.nearest(reader, vector, query)))
    }

    fn memory<'a>(
        &'a self,
        workspace: &'a Workspace,
        id: &'a str,
    ) -> StoreFuture<'a, Option<MemoryRow>> {
        self.step(move |tables| Ok(tables.memories.find(workspace, id).cloned()))
    }

    fn list_memories<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a MemoryFilter,
    ) -> StoreFuture<'a, Vec<MemoryRow>> {
        self.step(move |Tables { memories, .. }| {
            let numbers = memories.by_id.iter().filter(|((workspace, id), _)| {
                let after = filter.after.as_ref();
                scope.covers(workspace)
                    && after.is_none_or(|(own, last)| (workspace, id) > (own, last))
            });
            let rows = numbers.filter_map(|(_, number)| Some(&memories.rows.get(number)?.row));
            let rows = rows.filter(|row| {
                let (owner, principal) = (filter.scope.as_ref(), filter.principal.as_ref());
                let text = filter.text.as_ref();
                owner.is_none_or(|owner| row.scope == *owner)
                    && principal.is_none_or(|wanted| row.principal.as_ref() == Some(wanted))
                    && text.is_none_or(|text| row.content.contains(text.as_str()))
            });
            Ok(rows.take(limited(filter.limit)).cloned().collect())
        })
    }

    fn correct_memory<'a>(
        &'a self,
        workspace: &'a Workspace,
        id: &'a str,
        correction: &'a MemoryCorrection,
    ) -> StoreFuture<'a, MemoryRow> {
        self.step(move |tables| tables.memories.correct(workspace, id, correction))
    }

    fn remove_memory<'a>(&'a self, workspace: &'a Workspace, id: &'a str) -> StoreFuture<'a, bool> {
        self.step(move |tables| Ok(tables.memories.remove_by_id(workspace, id)))
    }

    fn remove_memories<'a>(&'a self, scope: &'a MemoryScope) -> StoreFuture<'a, u64> {
        self.step(move |Tables { memories, .. }| {
            Ok(memories.remove_where(|row| row.scope == *scope, usize::MAX))
        })
    }

    fn memories_to_embed<'a>(
        &'a self,
        workspace: &'a Workspace,
        model: &'a str,
        limit: u32,
    ) -> StoreFuture<'a, Vec<MemoryRow>> {
        self.step(move |Tables { memories, .. }| {
            let rows = memories.rows.values().map(|entry| &entry.row);
            let rows = rows.filter(|row| {
                row.scope.workspace() == workspace && row.model.as_deref() != Some(model)
            });
            Ok(rows.take(limited(Some(limit))).cloned().collect())
        })
    }

    fn embed_memory<'a>(
        &'a self,
        workspace: &'a Workspace,
        id: &'a str,
        hash: &'a str,
        vector: &'a MemoryVector,
    ) -> StoreFuture<'a, bool> {
        self.step(move |Tables { memories, .. }| {
            let number = memories.number(workspace, id);
            let entry = number.and_then(|number| memories.rows.get_mut(&number));
            let Some(entry) = entry.filter(|entry| entry.row.hash == hash) else {
                return Ok(false);
            };
            entry.row.model = Some(vector.model().to_owned());
            entry.vector = Some(vector.clone().into());
            Ok(true)
        })
    }

    fn append_note(&self, note: NewNote) -> StoreFuture<'_, NoteBlock> {
        self.step(move |Tables { memories, .. }| {
            note.check()?;
            let block = memories.notes.entry(note.thread.clone()).or_default();
            block.append(note);
            Ok(block.clone())
        })
    }

    fn notes<'a>(&'a self, thread: &'a ThreadId) -> StoreFuture<'a, NoteBlock> {
        self.step(move |tables| {
            Ok(tables
                .memories
                .notes
                .get(thread)
                .cloned()
                .unwrap_or_default())
        })
    }
}
