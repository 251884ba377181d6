//! A catalogue of the tools of a program, for consoles that run in a different process.

use serde::{Deserialize, Serialize};

use super::{EnablementRow, StoreFuture, Timestamp};

/// A tool in the catalogue.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CatalogueEntry {
    /// The name of the tool.
    pub name: String,
    /// The display name of the tool.
    pub title: Option<String>,
    /// The description of the tool for models.
    pub description: String,
    /// The category of the tool.
    pub category: String,
    /// Hash of the tool's contract: name, description, schemas, effects and hints.
    pub contract: String,
    /// The bits of the tool's `tool_core::Effect`.
    pub effect: u8,
    /// The keys of the secrets that the tool declares, sorted. Their values are never in a catalogue.
    pub secrets: Vec<String>,
    /// Earlier names of the tool, which stored rows may still use.
    pub aliases: Vec<String>,
    /// Whether the entry only lists the tool, because the host builds the tool for each turn.
    pub is_meta: bool,
    /// Whether the tool is enabled for every instance.
    pub is_global: bool,
    /// Whether the tool is a harness tool, which needs no enablement row.
    pub is_harness: bool,
    /// When a program last synced the entry.
    pub synced_at: Timestamp,
}

impl CatalogueEntry {
    /// Creates the entry of a tool; all other fields have their defaults.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            ..Self::default()
        }
    }

    /// Returns whether two entries are equal, ignoring `synced_at`.
    pub fn is_same(&self, other: &Self) -> bool {
        let at = self.synced_at;
        *self
            == Self {
                synced_at: at,
                ..other.clone()
            }
    }
}

/// The numbers of entries that a sync has added, changed and removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CatalogueChanges {
    /// Tools that were added. A renamed tool is not counted.
    pub added: u64,
    /// Tools whose entry has changed. A renamed tool is counted here.
    pub changed: u64,
    /// Tools that were removed. A renamed tool is not counted.
    pub removed: u64,
}

/// The changes that a sync has made to a catalogue and to enablement rows. Names are sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SyncReport {
    /// Tools that were added.
    pub added: Vec<String>,
    /// Tools whose entry has changed, except renamed tools.
    pub changed: Vec<String>,
    /// Tools that were removed, with the enablement rows that were removed with them.
    pub removed: Vec<RemovedTool>,
    /// Tools that have a different name now, with the enablement rows that were moved to this name.
    pub renamed: Vec<RenamedTool>,
}

impl SyncReport {
    /// Returns the number of changed entries.
    pub fn counts(&self) -> CatalogueChanges {
        let count = |rows: usize| u64::try_from(rows).unwrap_or(u64::MAX);
        CatalogueChanges {
            added: count(self.added.len()),
            changed: count(self.changed.len() + self.renamed.len()),
            removed: count(self.removed.len()),
        }
    }
}

/// A tool that a sync has removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RemovedTool {
    /// The name of the tool.
    pub name: String,
    /// The enablement rows of all instances that were removed with the tool, ordered by instance.
    pub rows: Vec<EnablementRow>,
}

impl RemovedTool {
    /// Creates the report of a tool that was removed.
    pub fn new(name: impl Into<String>, rows: Vec<EnablementRow>) -> Self {
        let name = name.into();
        Self { name, rows }
    }
}

/// A tool that a sync has renamed, because the new entry has the old name as an alias.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RenamedTool {
    /// The name of the tool before the sync.
    pub from: String,
    /// The name of the tool after the sync.
    pub to: String,
    /// The enablement rows under the old name, from before the sync, ordered by instance.
    pub rows: Vec<EnablementRow>,
}

impl RenamedTool {
    /// Creates the report of a tool that was renamed.
    pub fn new(from: impl Into<String>, to: impl Into<String>, rows: Vec<EnablementRow>) -> Self {
        let (from, to) = (from.into(), to.into());
        Self { from, to, rows }
    }
}

/// A store of the catalogue.
///
/// ```
/// use tool_store::*;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), StoreError> {
/// let store = MemoryStore::default();
/// let mut entry = CatalogueEntry::new("look");
/// entry.description = "Looks.".to_owned();
/// assert_eq!(store.sync(vec![entry.clone()]).await?.added, 1);
/// assert_eq!(store.sync(vec![entry]).await?, CatalogueChanges::default());
/// assert_eq!(store.sync(Vec::new()).await?.removed, 1);
/// # Ok(())
/// # }
/// ```
pub trait Catalogue: Send + Sync + 'static {
    /// Replaces the catalogue with `entries`, in one transaction, but does not remove entries named `agent:…`. A store that also implements
    /// [`EnablementStore`](super::EnablementStore) also moves and removes enablement rows, like [`reconcile`](super::EnablementStore::reconcile), but
    /// this method returns only the numbers of changed entries.
    fn sync(&self, entries: Vec<CatalogueEntry>) -> StoreFuture<'_, CatalogueChanges>;

    /// Returns all entries, ordered by name.
    fn entries(&self) -> StoreFuture<'_, Vec<CatalogueEntry>>;
}
