//! The documents of a host, and the host values of the tools.

use std::fmt;
use std::sync::Arc;

use tokio::sync::Notify;
use tool_core::store::{DocumentWrite, DocumentWritten, KnowledgeStore, StoreError, Workspace};
use tool_core::{Effect, FromContext, ToolContext, ToolError};

use super::index::Indexer;

/// The documents of a host, for all tools of this pack. It is cheap to clone. Pass it to the tools with
/// [`ToolContextBuilder::with`](tool_core::ToolContextBuilder::with).
#[derive(Clone)]
pub struct Knowledge(Arc<Inner>);

struct Inner {
    store: Box<dyn KnowledgeStore>,
    /// Wakes an indexer of this process after a write.
    written: Notify,
}

impl Knowledge {
    /// Creates the value from a store of documents.
    pub fn new(store: impl KnowledgeStore) -> Self {
        Self(Arc::new(Inner {
            store: Box::new(store),
            written: Notify::new(),
        }))
    }

    /// Returns the store.
    pub fn store(&self) -> &dyn KnowledgeStore {
        &*self.0.store
    }

    /// Writes a document, and wakes an indexer of this process. Use it for documents that the host itself adds, such as uploaded files.
    pub async fn write(&self, write: DocumentWrite) -> Result<DocumentWritten, StoreError> {
        let written = self.store().write_document(write).await?;
        self.0.written.notify_one();
        Ok(written)
    }

    /// Returns an indexer for the documents of all workspaces.
    pub fn indexer(&self) -> Indexer {
        Indexer::new(self.clone())
    }

    /// Waits until a document is written in this process.
    pub(super) async fn written(&self) {
        self.0.written.notified().await;
    }
}

impl fmt::Debug for Knowledge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Knowledge").finish_non_exhaustive()
    }
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
