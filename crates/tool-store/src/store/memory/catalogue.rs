//! In-memory store of the tool catalogue.

use std::collections::BTreeMap;

use super::MemoryStore;
use crate::store::{Catalogue, CatalogueChanges, CatalogueEntry, StoreFuture};

#[derive(Default)]
pub(super) struct Entries {
    pub(super) all: BTreeMap<String, CatalogueEntry>,
    /// The tool of each alias.
    aliases: BTreeMap<String, String>,
}

impl Entries {
    pub(super) fn put(&mut self, entries: BTreeMap<String, CatalogueEntry>) {
        self.aliases.clear();
        for entry in entries.values() {
            for alias in &entry.aliases {
                let tool = || entry.name.clone();
                self.aliases.entry(alias.clone()).or_insert_with(tool);
            }
        }
        self.all = entries;
    }

    /// Returns the name of the tool that has this name or alias; `name` itself if there is none.
    pub(super) fn resolve<'a>(&'a self, name: &'a str) -> &'a str {
        if self.all.contains_key(name) {
            return name;
        }
        self.aliases.get(name).map_or(name, String::as_str)
    }
}

impl Catalogue for MemoryStore {
    fn sync(&self, entries: Vec<CatalogueEntry>) -> StoreFuture<'_, CatalogueChanges> {
        self.step(|tables| Ok(tables.reconcile(entries).counts()))
    }

    fn entries(&self) -> StoreFuture<'_, Vec<CatalogueEntry>> {
        self.step(|tables| Ok(tables.catalogue.all.values().cloned().collect()))
    }
}
