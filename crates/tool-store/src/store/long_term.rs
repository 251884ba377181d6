//! Long-term memories of agents, and the notes of threads.

use serde::{Deserialize, Serialize};

use super::{Scope, StoreError, StoreFuture, ThreadId, Timestamp, Workspace, words};

mod attributes;
mod note;
mod row;
mod scope;
mod search;
mod vector;

pub use attributes::{Durability, Importance, MemorySource, MemoryType};
pub use note::{NewNote, Note, NoteBlock};
use row::check_content;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
pub(crate) use row::kept_since;
pub use row::{MemoryRow, NewMemory};
pub use scope::MemoryScope;
pub(crate) use search::{CANDIDATES, best, ranked, weighted};
#[cfg(any(feature = "sqlite", feature = "postgres"))]
pub(crate) use search::{Lookup, labels_of, wanted_labels};
pub use vector::MemoryVector;

/// Whether a memory is new.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemoryEvent {
    /// The memory is new.
    Add,
    /// A memory with the same or a similar content was updated.
    Update,
}

words!(MemoryEvent {
    Add = "add",
    Update = "update",
});

/// The result of [`LongTermStore::remember`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remembered {
    /// Whether the memory is new.
    pub event: MemoryEvent,
    /// The memory as it is stored.
    pub memory: MemoryRow,
}

/// A search for memories.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryQuery {
    /// The text to search for. [`LongTermStore::nearest_memories`] ignores it.
    pub text: String,
    /// The types that are searched; empty for all types.
    pub types: Vec<MemoryType>,
    /// The maximum number of results.
    pub limit: u32,
    /// The time of the search, for the weight of each memory.
    pub now: Timestamp,
}

impl MemoryQuery {
    /// Returns whether a memory has one of the types, and has not expired.
    pub(crate) fn admits(&self, memory: &MemoryRow) -> bool {
        let has_type = self.types.is_empty() || self.types.contains(&memory.memory_type);
        has_type && !memory.is_expired(self.now)
    }

    /// Returns the number of most similar memories whose weighted scores are compared.
    pub(crate) fn considered(&self) -> usize {
        usize::try_from(self.limit)
            .unwrap_or(usize::MAX)
            .saturating_mul(4)
            .max(64)
    }
}

/// A result of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryHit {
    /// The memory that was found.
    pub memory: MemoryRow,
    /// The score, which is larger for better results. It is the [weight](MemoryRow::weight) of the memory, multiplied by the score of
    /// [`rank`](crate::text_search::rank) (from 0 to 1) in a search by words, or by the cosine in a search by embeddings. It can be compared only
    /// with scores of the same search.
    pub score: f64,
}

/// Selects memories for a list. Fields that are `None` do not narrow the list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryFilter {
    /// The memories of this scope.
    pub scope: Option<MemoryScope>,
    /// The memories that were last stored for this user.
    pub principal: Option<String>,
    /// The memories whose content contains this text.
    pub text: Option<String>,
    /// The maximum number of rows.
    pub limit: Option<u32>,
    /// The cursor: only rows after it. It is the workspace and the id of the last row of the previous page.
    pub after: Option<(Workspace, String)>,
}

/// A change of a memory by an operator. Fields that are `None` are not changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryCorrection {
    /// The new content. If it differs from the stored content, the source of the memory becomes [`MemorySource::User`], and the embedding is removed.
    pub content: Option<String>,
    /// The new type of the memory.
    pub memory_type: Option<MemoryType>,
    /// The new durability of the memory.
    pub durability: Option<Durability>,
    /// The new importance of the memory.
    pub importance: Option<Importance>,
    /// When the memory is corrected.
    pub at: Timestamp,
}

impl MemoryCorrection {
    /// Checks the content by the rules of [`NewMemory::check`].
    pub fn check(&self) -> Result<(), StoreError> {
        self.content.as_deref().map_or(Ok(()), check_content)
    }
}

/// A store of the long-term memories of agents, and of the notes of threads.
///
/// Memories are found by their words ([`search_memories`](Self::search_memories)) and by the similarity of their embeddings
/// ([`nearest_memories`](Self::nearest_memories)). Fuse the two lists with [`fuse_scores`](crate::text_search::fuse_scores).
///
/// Writing a memory or a note through a handle that seals contents fails with `Conflict`, because the handle would have to store it in clear text: a
/// full-text index contains the words of memories.
///
/// ```
/// use tool_store::*;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), StoreError> {
/// let store = MemoryStore::default();
/// let (acme, now) = (Workspace::new("acme"), Timestamp::now());
/// let sales = MemoryScope::agent(&acme, "sales")?;
/// let new = NewMemory {
///     scope: sales.clone(), content: "Ada drinks green tea.".into(), memory_type: MemoryType::Preference, durability: Durability::Core,
///     importance: Importance::new(0.5)?, source: MemorySource::User, principal: Some("ada".into()), conversation: None, vector: None, at: now,
/// };
/// assert_eq!(store.remember(new.clone()).await?.event, MemoryEvent::Add);
/// assert_eq!(store.remember(new).await?.event, MemoryEvent::Update);
///
/// let query = MemoryQuery { text: "who drinks tea?".into(), types: vec![], limit: 5, now };
/// assert_eq!(store.search_memories(&sales, &query).await?.len(), 1);
/// let support = MemoryScope::agent(&acme, "support")?;
/// assert!(store.search_memories(&support, &query).await?.is_empty());
/// # Ok(())
/// # }
/// ```
#[doc(alias("memory", "long-term memory", "semantic memory", "recall"))]
pub trait LongTermStore: Send + Sync + 'static {
    /// Stores a memory. If the scope has a memory with the same [hash](MemoryRow::hash), or with an embedding of the same model whose cosine is above
    /// [`MemoryRow::SAME`] and whose content the source [may replace](MemoryRow::admits), updates this memory instead. Concurrent calls for one scope
    /// store equal contents once. Fails with `Conflict` if [`NewMemory::check`] fails, or if the handle seals contents.
    fn remember(&self, new: NewMemory) -> StoreFuture<'_, Remembered>;

    /// Returns the memories that a reader's scope [reads](MemoryScope::reads) and that contain words of the query, best first. The order is by BM25,
    /// with the statistics of these memories only, times their [weight](MemoryRow::weight). For each word, a search considers only the newest 256
    /// memories with this word in each scope, and it ranks at most 512 memories, so that a frequent word does not slow down the search.
    fn search_memories<'a>(
        &'a self,
        reader: &'a MemoryScope,
        query: &'a MemoryQuery,
    ) -> StoreFuture<'a, Vec<MemoryHit>>;

    /// Returns the memories that a reader's scope reads and whose embedding is most similar to a vector of the same model, best first. The score is
    /// the cosine times the [weight](MemoryRow::weight) of the memory, and is calculated for the memories with the largest cosines: 4 for each
    /// result, and at least 64. Memories without an embedding of the model are not found.
    ///
    /// In scopes with at most 1,024 embeddings, all embeddings are compared. In larger scopes, the stores of this crate may first select the
    /// embeddings whose codes (one bit for each dimension) are nearest to the code of the vector, at least 512. Only these embeddings are compared,
    /// so a result may be missing. The selection considers only memories that are in the scopes, have one of the types and have not expired.
    fn nearest_memories<'a>(
        &'a self,
        reader: &'a MemoryScope,
        vector: &'a MemoryVector,
        query: &'a MemoryQuery,
    ) -> StoreFuture<'a, Vec<MemoryHit>>;

    /// Returns a memory by its id; `None` if the workspace has no memory with this id.
    fn memory<'a>(
        &'a self,
        workspace: &'a Workspace,
        id: &'a str,
    ) -> StoreFuture<'a, Option<MemoryRow>>;

    /// Returns a page of memories, including expired memories, ordered by workspace and id.
    fn list_memories<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a MemoryFilter,
    ) -> StoreFuture<'a, Vec<MemoryRow>>;

    /// Changes a memory, and returns it. Fails with `Missing` if the workspace has no memory with this id, and with `Conflict` if the scope has a
    /// different memory with the new content, if [`MemoryCorrection::check`] fails, or if the handle seals contents.
    fn correct_memory<'a>(
        &'a self,
        workspace: &'a Workspace,
        id: &'a str,
        correction: &'a MemoryCorrection,
    ) -> StoreFuture<'a, MemoryRow>;

    /// Removes a memory. Returns false if the workspace has no memory with this id.
    fn remove_memory<'a>(&'a self, workspace: &'a Workspace, id: &'a str) -> StoreFuture<'a, bool>;

    /// Removes all memories of exactly one scope, and returns their number. Shared memories are not removed with the memories of an agent.
    fn remove_memories<'a>(&'a self, scope: &'a MemoryScope) -> StoreFuture<'a, u64>;

    /// Returns at most `limit` memories of a workspace whose embedding is missing or of a different model, for [`embed_memory`](Self::embed_memory).
    /// The rows record which memories have an embedding of the new model, so the work can be interrupted at any time.
    fn memories_to_embed<'a>(
        &'a self,
        workspace: &'a Workspace,
        model: &'a str,
        limit: u32,
    ) -> StoreFuture<'a, Vec<MemoryRow>>;

    /// Stores the embedding of a memory in place of its previous embedding. Returns false if the workspace has no memory with this id, or if its
    /// content has changed since its [hash](MemoryRow::hash) was read.
    fn embed_memory<'a>(
        &'a self,
        workspace: &'a Workspace,
        id: &'a str,
        hash: &'a str,
        vector: &'a MemoryVector,
    ) -> StoreFuture<'a, bool>;

    /// Appends a note to the block of its thread, and returns the block. Fails with `Conflict` if [`NewNote::check`] fails, or if the handle seals
    /// contents.
    fn append_note(&self, note: NewNote) -> StoreFuture<'_, NoteBlock>;

    /// Returns the notes of a thread. A thread without notes has an empty block.
    fn notes<'a>(&'a self, thread: &'a ThreadId) -> StoreFuture<'a, NoteBlock>;
}
