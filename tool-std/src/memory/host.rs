//! The host value of the memory tools.

use std::fmt;
use std::sync::Arc;

use tool_core::store::{
    LongTermStore, MemoryScope, MemoryVector, NoteBlock, StoreError, ThreadId, ThreadStore,
    Workspace,
};
use tool_core::{ErrorKind, ToolContext, ToolError};

use super::{Heuristic, ImportanceScorer, Reranker};
use crate::embedding::{Embedder, vectors};

/// The store and the services of the memory tools, passed to them with [`ToolContextBuilder::with`](tool_core::ToolContextBuilder::with).
///
/// ```
/// use tool_core::prelude::*;
/// use tool_core::store::MemoryStore;
/// use tool_std::memory::{Memory, remember, search_memory};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let memory = Memory::new(MemoryStore::default());
/// let cx = ToolContext::builder().workspace("acme").agent("sales").with(memory).build();
/// let tools = toolset![remember, search_memory];
/// tools.call(ToolCall::new("1", "remember", r#"{"content": "Ada drinks green tea."}"#), &cx).await;
/// let found = tools.call(ToolCall::new("2", "search_memory", r#"{"query": "tea"}"#), &cx).await;
/// assert!(found.model_text().contains("Ada drinks green tea."));
/// # }
/// ```
#[derive(Clone)]
#[must_use]
pub struct Memory {
    pub(super) memories: Arc<dyn LongTermStore>,
    pub(super) threads: Arc<dyn ThreadStore>,
    pub(super) embedder: Option<Arc<dyn Embedder>>,
    pub(super) reranker: Option<Arc<dyn Reranker>>,
    pub(super) scorer: Arc<dyn ImportanceScorer>,
    pub(super) label: Option<Arc<str>>,
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let model = self.embedder.as_ref().map(|embedder| embedder.model());
        f.debug_struct("Memory")
            .field("embedder", &model)
            .field("label", &self.label)
            .finish_non_exhaustive()
    }
}

impl Memory {
    /// Uses a store that contains both memories and threads.
    pub fn new(store: impl LongTermStore + ThreadStore + Clone) -> Self {
        Self::of(Arc::new(store.clone()), Arc::new(store))
    }

    /// Uses one store for memories and one for threads, such as two handles of one database. The store of memories must not seal contents, because
    /// full-text indexes cannot be sealed.
    pub fn of(memories: Arc<dyn LongTermStore>, threads: Arc<dyn ThreadStore>) -> Self {
        Self {
            memories,
            threads,
            embedder: None,
            reranker: None,
            scorer: Arc::new(Heuristic),
            label: None,
        }
    }

    /// Sets the model with which memories are found by meaning, in addition to their words.
    pub fn embedder(mut self, embedder: impl Embedder) -> Self {
        self.embedder = Some(Arc::new(embedder));
        self
    }

    /// Sets the model that orders the results of a search.
    pub fn reranker(mut self, reranker: impl Reranker) -> Self {
        self.reranker = Some(Arc::new(reranker));
        self
    }

    /// If `is_fast` is true, removes the [reranker](Self::reranker) that was set before, for agents that must respond fast.
    pub fn fast_mode(mut self, is_fast: bool) -> Self {
        if is_fast {
            self.reranker = None;
        }
        self
    }

    /// Sets the function that computes the importance of memories.
    pub fn scorer(mut self, scorer: impl ImportanceScorer) -> Self {
        self.scorer = Arc::new(scorer);
        self
    }

    /// Sets the label of the author of notes. By default, it is the name of the agent, or `agent` if the context names no agent.
    pub fn label(mut self, label: impl Into<Arc<str>>) -> Self {
        self.label = Some(label.into());
        self
    }

    /// Returns the store of the memories, for the host's own memories and for corrections.
    pub fn store(&self) -> &Arc<dyn LongTermStore> {
        &self.memories
    }

    /// Returns the notes of a thread. Write the block into the instructions of each turn, because the tools only append to it.
    ///
    /// ```
    /// use tool_core::store::{MemoryStore, ThreadId};
    /// use tool_std::memory::Memory;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), tool_core::store::StoreError> {
    /// let memory = Memory::new(MemoryStore::default());
    /// let block = memory.block(&ThreadId::new("acme", "main")?).await?;
    /// assert_eq!(block.to_string(), "");
    /// # Ok(())
    /// # }
    /// ```
    pub async fn block(&self, thread: &ThreadId) -> Result<NoteBlock, StoreError> {
        self.memories.notes(thread).await
    }

    /// Computes the embeddings of at most `limit` memories of a workspace that have no embedding of the present model, and returns their number.
    /// After a new embedder was set, or after the embedder has failed, call it until it returns 0. It can be interrupted at any time.
    ///
    /// Fails with the kind [`ErrorKind::Unavailable`] if no embedder is set, if the store fails, or if the embedder returns invalid vectors. An
    /// error of the embedder is returned unchanged.
    pub async fn embed_missing(&self, workspace: &Workspace, limit: u32) -> Result<u64, ToolError> {
        let Some(embedder) = &self.embedder else {
            return Err(ToolError::unavailable("an embedder"));
        };
        let rows = self
            .memories
            .memories_to_embed(workspace, embedder.model(), limit);
        let rows = rows.await.map_err(unavailable)?;
        if rows.is_empty() {
            return Ok(0);
        }
        let texts: Vec<String> = rows.iter().map(|row| row.content.clone()).collect();
        let vectors = vectors(&**embedder, &texts).await?;
        for (row, vector) in rows.iter().zip(&vectors) {
            let stored = self
                .memories
                .embed_memory(workspace, &row.id, &row.hash, vector);
            stored.await.map_err(unavailable)?;
        }
        Ok(u64::try_from(rows.len()).unwrap_or(u64::MAX))
    }

    /// Returns the vector of a text; `None` without an embedder.
    pub(super) async fn vector(&self, text: &str) -> Result<Option<MemoryVector>, ToolError> {
        let Some(embedder) = &self.embedder else {
            return Ok(None);
        };
        let vectors = vectors(&**embedder, &[text.to_owned()]).await?;
        Ok(vectors.into_iter().next())
    }
}

/// Returns the error of a tool whose store failed.
#[expect(clippy::needless_pass_by_value, reason = "an argument of `map_err`")]
pub(super) fn unavailable(error: StoreError) -> ToolError {
    let text = "the memory cannot be used now, try again later";
    ToolError::of(ErrorKind::Unavailable, text).operator(error.to_string())
}

/// Returns the scope of the calling agent; the shared scope if the context names no agent.
pub(super) fn reader(cx: &ToolContext) -> Result<MemoryScope, ToolError> {
    let workspace = cx.own_workspace();
    match cx.agent().filter(|agent| !agent.is_empty()) {
        Some(agent) => MemoryScope::agent(&workspace, agent).map_err(unavailable),
        None => Ok(MemoryScope::shared(&workspace)),
    }
}

/// Returns the thread of the conversation, or the error for a context without one.
pub(super) fn thread(cx: &ToolContext) -> Result<ThreadId, ToolError> {
    let missing = || {
        let error = ToolError::of(ErrorKind::Unavailable, "there is no conversation to use");
        error.operator("the context has no conversation: set `ToolContextBuilder::conversation`")
    };
    cx.thread().ok_or_else(missing)
}
