//! Spills in memory.

use std::collections::{BTreeMap, BTreeSet};

use super::{MemoryStore, count};
use crate::store::{Spill, SpillPart, SpillStore, StoreError, StoreFuture, Timestamp};

#[derive(Default)]
pub(super) struct Spills {
    rows: BTreeMap<String, Spill>,
    /// In the order in which they expire.
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

    fn expire(&mut self, now: Timestamp) -> u64 {
        let before = self.rows.len();
        while let Some((at, handle)) = self.by_expiry.pop_first() {
            if now < at {
                self.by_expiry.insert((at, handle));
                break;
            }
            self.rows.remove(&handle);
        }
        count(before - self.rows.len())
    }
}

impl SpillStore for MemoryStore {
    fn put(&self, spill: Spill) -> StoreFuture<'_, ()> {
        self.step(|tables| tables.spills.put(spill))
    }

    fn read<'a>(
        &'a self,
        handle: &'a str,
        tenant: &'a str,
        principal: &'a str,
        from: u64,
        most: u64,
        now: Timestamp,
    ) -> StoreFuture<'a, Option<SpillPart>> {
        self.step(move |tables| {
            let spill = tables.spills.rows.get(handle).filter(|spill| {
                spill.tenant == tenant && spill.principal == principal && now < spill.expires
            });
            Ok(spill.map(|spill| SpillPart::of(&spill.text, from, most)))
        })
    }

    fn expire(&self, now: Timestamp) -> StoreFuture<'_, u64> {
        self.step(move |tables| Ok(tables.spills.expire(now)))
    }
}
