//! In-memory store of the tool catalogue.

use std::collections::BTreeMap;

use super::MemoryStore;
use crate::store::{Catalogue, CatalogueChanges, CatalogueEntry, StoreFuture};

#[derive(Default)]
pub(super) struct Entries(BTreeMap<String, CatalogueEntry>);

impl Entries {
    fn sync(&mut self, entries: Vec<CatalogueEntry>) -> CatalogueChanges {
        let mut changes = CatalogueChanges::default();
        let mut before = std::mem::take(&mut self.0);
        for entry in entries {
            match before.remove(&entry.name) {
                Some(old) if old == entry => {}
                Some(_) => changes.changed += 1,
                None => changes.added += 1,
            }
            self.0.insert(entry.name.clone(), entry);
        }
        changes.removed = super::count(before.len());
        changes
    }
}

impl Catalogue for MemoryStore {
    fn sync(&self, entries: Vec<CatalogueEntry>) -> StoreFuture<'_, CatalogueChanges> {
        self.step(|tables| Ok(tables.catalogue.sync(entries)))
    }

    fn entries(&self) -> StoreFuture<'_, Vec<CatalogueEntry>> {
        self.step(|tables| Ok(tables.catalogue.0.values().cloned().collect()))
    }
}
