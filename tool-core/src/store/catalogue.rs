//! The tools that a program knows, for consoles that run apart from it.

use serde::{Deserialize, Serialize};

use super::StoreFuture;

/// A tool in the catalogue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CatalogueEntry {
    /// Its name.
    pub name: String,
    /// Its name for people.
    pub title: Option<String>,
    /// What it does.
    pub description: String,
    /// Its category.
    pub category: String,
    /// Hash of its contract: name, description, schemas, effects.
    pub contract: String,
    /// The bits of its [`Effect`](crate::Effect).
    pub effect: u8,
}

/// What a sync has changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CatalogueChanges {
    /// Tools that were not there before.
    pub added: u64,
    /// Tools whose entry is another one now.
    pub changed: u64,
    /// Tools that are gone.
    pub removed: u64,
}

/// Keeps the catalogue.
///
/// ```
/// use tool_core::store::*;
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
    /// Makes the catalogue what is given, in one transaction.
    fn sync(&self, entries: Vec<CatalogueEntry>) -> StoreFuture<'_, CatalogueChanges>;

    /// The entries, by name.
    fn entries(&self) -> StoreFuture<'_, Vec<CatalogueEntry>>;
}
