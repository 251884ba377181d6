//! A catalogue of the tools of a program, for consoles that run in a different process.

use serde::{Deserialize, Serialize};

use super::StoreFuture;

/// A tool in the catalogue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CatalogueEntry {
    /// The name of the tool.
    pub name: String,
    /// The name of the tool for people.
    pub title: Option<String>,
    /// The description of the tool for models.
    pub description: String,
    /// The category of the tool.
    pub category: String,
    /// Hash of the tool's contract: name, description, schemas, effects.
    pub contract: String,
    /// The bits of the tool's `tool_core::Effect`.
    pub effect: u8,
}

/// The number of entries that a sync has changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CatalogueChanges {
    /// Tools that were added.
    pub added: u64,
    /// Tools whose entry has changed.
    pub changed: u64,
    /// Tools that were removed.
    pub removed: u64,
}

/// A store of the catalogue.
///
/// ```
/// use tool_store::*;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), StoreError> {
/// let store = MemoryStore::default();
/// let entry = CatalogueEntry {
///     name: "look".into(), title: None, description: "Looks.".into(), category: "general".into(), contract: "9f".into(), effect: 1,
/// };
/// assert_eq!(store.sync(vec![entry.clone()]).await?.added, 1);
/// assert_eq!(store.sync(vec![entry]).await?, CatalogueChanges::default());
/// assert_eq!(store.sync(Vec::new()).await?.removed, 1);
/// # Ok(())
/// # }
/// ```
pub trait Catalogue: Send + Sync + 'static {
    /// Replaces the catalogue by `entries`, in one transaction.
    fn sync(&self, entries: Vec<CatalogueEntry>) -> StoreFuture<'_, CatalogueChanges>;

    /// Returns all entries, ordered by name.
    fn entries(&self) -> StoreFuture<'_, Vec<CatalogueEntry>>;
}
