//! The documents of a host, and the host values of the tools.

use std::fmt;
use std::sync::Arc;

use tokio::sync::Notify;
use tool_core::store::{
    ChunkHit, ChunkVectorSearch, DocumentWrite, DocumentWritten, KnowledgeStore, Scope, StoreError,
    Timestamp, Workspace,
};
use tool_core::{Effect, ErrorKind, FromContext, ToolContext, ToolError};

use super::index::Indexer;
use crate::embedding::{Embedder, vectors};

/// The maximum number of documents that one transaction of [`Knowledge::renew_embeddings`] changes.
const RENEWED: u32 = 200;

/// The documents of a host, for all tools of this pack. The value is cheap to clone. Pass it to the tools with
/// [`ToolContextBuilder::with`](tool_core::ToolContextBuilder::with).
#[derive(Clone)]
pub struct Knowledge {
    inner: Arc<Inner>,
    embedder: Option<Arc<dyn Embedder>>,
}

struct Inner {
    store: Box<dyn KnowledgeStore>,
    /// Wakes an indexer of this process after a write.
    written: Notify,
    /// Wakes an indexer of this process when chunks may need embeddings.
    indexed: Notify,
}

impl Knowledge {
    /// Creates the value with a store of documents.
    pub fn new(store: impl KnowledgeStore) -> Self {
        let inner = Inner {
            store: Box::new(store),
            written: Notify::new(),
            indexed: Notify::new(),
        };
        Self {
            inner: Arc::new(inner),
            embedder: None,
        }
    }

    /// Sets the model with which documents are found by meaning, in addition to their words. The [`Indexer`] sends the chunks of documents to the model, and
    /// [`search_knowledge`](fn@super::search_knowledge) sends the queries.
    ///
    /// Set the same model in all processes. After a change of the model, call [`renew_embeddings`](Self::renew_embeddings).
    #[must_use]
    pub fn embedder(mut self, embedder: impl Embedder) -> Self {
        self.embedder = Some(Arc::new(embedder));
        self
    }

    /// Returns the store of the documents.
    pub fn store(&self) -> &dyn KnowledgeStore {
        &*self.inner.store
    }

    /// Writes a document, and wakes an indexer of this process. Use it for documents that the host itself adds, such as uploaded files.
    pub async fn write(&self, write: DocumentWrite) -> Result<DocumentWritten, StoreError> {
        let written = self.store().write_document(write).await?;
        self.inner.written.notify_one();
        Ok(written)
    }

    /// Schedules all documents of a scope that do not wait for embeddings and whose embeddings are not from the present embedder, and returns the
    /// number of these documents. The indexers then compute their embeddings again. Until its embeddings are computed, a document is found by its
    /// words.
    ///
    /// Call it once after a change of the model, when all processes use the new one: an indexer that still uses the previous model may otherwise take
    /// the documents. For the same reason, indexers do not compare models themselves. After an interruption, the indexers of any process continue the
    /// work.
    ///
    /// Fails with the kind [`ErrorKind::Unavailable`] if no embedder is set, or if the store fails.
    pub async fn renew_embeddings(&self, scope: Scope<'_>) -> Result<u64, ToolError> {
        let Some(embedder) = &self.embedder else {
            return Err(ToolError::unavailable("an embedder"));
        };
        let mut all = 0;
        loop {
            let now = Timestamp::now();
            let renewed = self
                .store()
                .renew_embeddings(scope, embedder.model(), RENEWED, now);
            let renewed = renewed.await.map_err(|error| unavailable(&error))?;
            if renewed == 0 {
                return Ok(all);
            }
            all += renewed;
            self.wake_embedder();
        }
    }

    /// Returns the chunks of a workspace that are most similar to a text; `None` without an embedder.
    pub(super) async fn nearest(
        &self,
        workspace: &Workspace,
        text: &str,
        limit: u32,
    ) -> Result<Option<Vec<ChunkHit>>, ToolError> {
        let Some(embedder) = &self.embedder else {
            return Ok(None);
        };
        let vectors = vectors(&**embedder, &[text.to_owned()]).await?;
        let Some(vector) = vectors.first() else {
            return Ok(None);
        };
        let found = self.store().nearest_chunks(ChunkVectorSearch {
            workspace,
            vector,
            limit,
        });
        Ok(Some(found.await.map_err(|error| unavailable(&error))?))
    }

    /// Returns the model that computes embeddings, if one is set.
    pub(super) fn model(&self) -> Option<&dyn Embedder> {
        self.embedder.as_deref()
    }

    /// Returns an indexer for the documents of all workspaces.
    pub fn indexer(&self) -> Indexer {
        Indexer::new(self.clone())
    }

    pub(super) fn wake_embedder(&self) {
        self.inner.indexed.notify_one();
    }

    /// Waits until [`wake_embedder`](Self::wake_embedder) is called, because chunks may need embeddings.
    pub(super) async fn indexed(&self) {
        self.inner.indexed.notified().await;
    }

    /// Waits until a document is written in this process.
    pub(super) async fn written(&self) {
        self.inner.written.notified().await;
    }
}

impl fmt::Debug for Knowledge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let model = self.embedder.as_ref().map(|embedder| embedder.model());
        f.debug_struct("Knowledge")
            .field("embedder", &model)
            .finish_non_exhaustive()
    }
}

/// Returns the error of a tool whose store failed.
pub(super) fn unavailable(error: &StoreError) -> ToolError {
    ToolError::of(
        ErrorKind::Unavailable,
        "the documents cannot be reached now, details are in the host's log",
    )
    .operator(error.to_string())
}

macro_rules! handle {
    ($(#[$doc:meta])* $name:ident: $effect:expr) => {
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub struct $name {
            pub(super) knowledge: Knowledge,
            pub(super) workspace: Workspace,
        }

        impl FromContext for $name {
            const EFFECT: Effect = $effect;

            fn from_context(cx: &ToolContext) -> Result<Self, ToolError> {
                let knowledge = cx.extension();
                let knowledge = knowledge
                    .ok_or_else(|| ToolError::unavailable("`Knowledge`, a host value of the context,"))?;
                let workspace = cx.workspace().map_or_else(Workspace::single, Workspace::from);
                Ok(Self { knowledge, workspace })
            }
        }
    };
}

handle! {
    /// Read access to the documents of the caller's workspace: a host value with [`Effect::READ`], created from the context's [`Knowledge`] and workspace.
    KnowledgeReader: Effect::READ
}
handle! {
    /// Read and write access to the documents of the caller's workspace: a host value with [`Effect::READ`] and [`Effect::WRITE`], created from the context's
    /// [`Knowledge`] and workspace.
    KnowledgeWriter: Effect::READ.union(Effect::WRITE)
}
