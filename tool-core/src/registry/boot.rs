//! Start of a program: builds the registry and brings a catalogue up to date.

use crate::store::{Catalogue, CatalogueEntry, StoreError};

use super::{Registry, RegistryBuilder, RegistryError};

/// Why a program could not start.
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
    /// Builds the registry and brings a catalogue up to date with it, in this order: collect linked and added tools, remove tools whose
    /// environment variables are missing, check the tools, sync the catalogue. No tool is served before every step is done; `tracing` logs each stage.
    ///
    /// Harness tools, and tools that exist only as configuration, are not entries of a catalogue.
    ///
    /// ```
    /// use tool_core::prelude::*;
    /// use tool_core::store::{Catalogue, MemoryStore};
    ///
    /// /// Returns zero.
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
        tracing::info!(stage = "scan", linked = super::link::defs().count(), "boot");
        tracing::info!(stage = "import", tools = self.tools.len(), "boot");
        let registry = self.build()?;
        tracing::info!(stage = "prune", left_out = registry.0.pruned.len(), "boot");
        let entries: Vec<CatalogueEntry> = registry
            .tools()
            .iter()
            .filter(|def| !def.is_harness())
            .map(|def| CatalogueEntry {
                name: def.name().to_owned(),
                title: def.title().map(std::borrow::Cow::into_owned),
                description: def.description().to_owned(),
                category: def.category().to_owned(),
                contract: def.contract().to_string(),
                effect: def.effect().bits(),
            })
            .collect();
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
}
