//! Start of a program: builds the registry and brings a catalogue up to date.

use crate::store::{Catalogue, CatalogueEntry, EnablementStore, StoreError, SyncReport, Timestamp};
use crate::tool::ToolDef;

use super::{Registry, RegistryBuilder, RegistryError};

/// Error of starting a program with [`RegistryBuilder::boot`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BootError {
    /// The registry cannot be built.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// The catalogue could not be brought up to date.
    #[error("the catalogue could not be updated: {0}")]
    Catalogue(#[from] StoreError),
}

impl RegistryBuilder {
    /// Builds the registry and brings a catalogue up to date with it, in this order: collects the tools of the builder, removes tools whose
    /// environment variables are missing, checks the tools, syncs the catalogue. The registry is returned only after every step has succeeded.
    /// `tracing` logs the stages `scan`, `import`, `prune` and `sync`.
    ///
    /// Tools that exist only as configuration, such as tools that call agents, are not entries of a catalogue.
    ///
    /// ```
    /// use tool_core::prelude::*;
    /// use tool_core::store::{Catalogue, MemoryStore};
    ///
    /// /// Returns the number zero.
    /// #[tool]
    /// fn nothing() -> u8 {
    ///     0
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let store = MemoryStore::default();
    /// let registry = Registry::builder().tool::<nothing>().boot(&store).await?;
    /// assert_eq!(Catalogue::entries(&store).await?[0].name, registry.tools()[0].name());
    /// # Ok(())
    /// # }
    /// ```
    pub async fn boot(self, catalogue: &dyn Catalogue) -> Result<Registry, BootError> {
        let registry = self.collect()?;
        let entries = registry.catalogue_entries();
        let count = entries.len();
        let changes = catalogue.sync(entries).await?;
        tracing::info!(
            stage = "sync",
            tools = count,
            added = changes.added,
            changed = changes.changed,
            removed = changes.removed,
            "boot"
        );
        Ok(registry)
    }

    /// Does the same as [`boot`](Self::boot) with an enablement store, and returns a report of the names that the sync has added, changed, removed
    /// and renamed, and of the enablement rows that were removed with a tool or moved to its new name. Removed rows are also logged as a warning:
    /// if the tool was renamed without an alias, the tool with the new name is hidden from every turn until it is enabled.
    ///
    /// ```
    /// use tool_core::prelude::*;
    /// use tool_core::store::{EnablementStore, InstanceId, MemoryStore, Timestamp};
    ///
    /// /// Reads the mail of the user.
    /// #[tool(read_only)]
    /// async fn read_mail() -> &'static str {
    ///     "No mail."
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let store = MemoryStore::default();
    /// let (_, report) = Registry::builder().tool::<read_mail>().boot_reported(&store).await?;
    /// assert_eq!(report.added, ["read_mail"]);
    ///
    /// let support = InstanceId::new("acme", "support");
    /// store.enable(&support, "read_mail", "olga", Timestamp::now()).await?;
    /// let (_, report) = Registry::builder().boot_reported(&store).await?;
    /// assert_eq!(report.removed[0].name, "read_mail");
    /// assert_eq!(report.removed[0].rows[0].instance, support);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn boot_reported(
        self,
        store: &dyn EnablementStore,
    ) -> Result<(Registry, SyncReport), BootError> {
        let registry = self.collect()?;
        let entries = registry.catalogue_entries();
        let count = entries.len();
        let report = store.reconcile(entries).await?;
        for removed in report.removed.iter().filter(|tool| !tool.rows.is_empty()) {
            tracing::warn!(
                tool = removed.name,
                rows = removed.rows.len(),
                "the program no longer has the tool, and its enablement rows were removed: if it was renamed, enable the new tool again, and next time state the earlier name with `#[tool(alias = \"…\")]` or `RegistryBuilder::renamed`"
            );
        }
        for renamed in &report.renamed {
            tracing::info!(
                from = renamed.from,
                to = renamed.to,
                rows = renamed.rows.len(),
                "a tool was renamed"
            );
        }
        let changes = report.counts();
        tracing::info!(
            stage = "sync",
            tools = count,
            added = changes.added,
            changed = changes.changed,
            removed = changes.removed,
            "boot"
        );
        Ok((registry, report))
    }

    /// Builds the registry and logs the stages before the sync.
    fn collect(self) -> Result<Registry, RegistryError> {
        tracing::info!(stage = "scan", linked = super::link::defs().count(), "boot");
        tracing::info!(stage = "import", tools = self.tools.len(), "boot");
        let registry = self.build()?;
        tracing::info!(stage = "prune", left_out = registry.0.pruned.len(), "boot");
        Ok(registry)
    }
}

impl Registry {
    /// Returns the entries of all tools for a [`Catalogue`], for programs that bring the catalogue up to date themselves. `synced_at` is the current time.
    pub fn catalogue_entries(&self) -> Vec<CatalogueEntry> {
        let now = Timestamp::now();
        let entries = self.tools().iter().map(|def| {
            let mut entry = entry(def);
            entry.is_global = self.0.globals.contains(def.name());
            entry.aliases = def.aliases().map(str::to_owned).collect();
            entry.aliases.sort_unstable();
            entry.synced_at = now;
            entry
        });
        entries.collect()
    }
}

fn entry(def: &ToolDef) -> CatalogueEntry {
    let mut entry = CatalogueEntry::new(def.name());
    entry.title = def.title().map(std::borrow::Cow::into_owned);
    def.description().clone_into(&mut entry.description);
    def.category().clone_into(&mut entry.category);
    entry.contract = def.contract().to_string();
    entry.effect = def.effect().bits();
    let secrets = def.secrets().iter();
    entry.secrets = secrets.map(|need| need.key.clone().into_owned()).collect();
    entry.secrets.sort_unstable();
    entry.is_meta = def.is_meta();
    entry.is_harness = def.is_harness();
    entry
}
