//! In-memory store of spilled outputs.

use std::collections::{BTreeMap, BTreeSet};

use super::{MemoryStore, count};
use crate::store::{
    Scope, Spill, SpillPart, SpillStore, StoreError, StoreFuture, Timestamp, Workspace,
};

#[derive(Default)]
pub(super) struct Spills {
    pub(super) rows: BTreeMap<String, Spill>,
    /// The handles, in the order in which the texts expire.
    by_expiry: BTreeSet<(Timestamp, String)>,
}

impl Spills {
    fn put(&mut self, spill: Spill) -> Result<(), StoreError> {
        if self.rows.contains_key(&spill.handle) {
            return Err(spill.exists());
        }
        self.by_expiry.insert((spill.expires, spill.handle.clone()));
        self.rows.insert(spill.handle.clone(), spill);
        Ok(())
    }

    #[cfg(feature = "host")]
    pub(super) fn remove(&mut self, handle: &str) {
        if let Some(spill) = self.rows.remove(handle) {
            self.by_expiry.remove(&(spill.expires, handle.to_owned()));
        }
    }

    fn expire(&mut self, scope: Scope<'_>, now: Timestamp) -> u64 {
        let over = self.by_expiry.iter().take_while(|(end, _)| *end <= now);
        let over: Vec<_> = over
            .filter(|(_, handle)| {
                let spill = self.rows.get(handle);
                spill.is_none_or(|spill| scope.covers(&spill.workspace))
            })
            .cloned()
            .collect();
        for place in &over {
            self.by_expiry.remove(place);
            self.rows.remove(&place.1);
        }
        count(over.len())
    }
}

impl SpillStore for MemoryStore {
    fn put(&self, spill: Spill) -> StoreFuture<'_, ()> {
        self.step(|tables| tables.spills.put(spill))
    }

    fn read<'a>(
        &'a self,
        workspace: &'a Workspace,
        principal: &'a str,
        handle: &'a str,
        from: u64,
        most: u64,
        now: Timestamp,
    ) -> StoreFuture<'a, Option<SpillPart>> {
        self.step(move |tables| {
            let spill = tables.spills.rows.get(handle).filter(|spill| {
                spill.workspace == *workspace && spill.principal == principal && now < spill.expires
            });
            Ok(spill.map(|spill| SpillPart::of(&spill.text, from, most)))
        })
    }

    fn expire<'a>(&'a self, scope: Scope<'a>, now: Timestamp) -> StoreFuture<'a, u64> {
        self.step(move |tables| Ok(tables.spills.expire(scope, now)))
    }
}
