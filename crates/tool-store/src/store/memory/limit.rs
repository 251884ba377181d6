//! In-memory store of shared limits.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{MemoryStore, Tables, count, limited};
use crate::store::{
    LimitId, LimitRow, LimitStore, LimitTake, LimitTaken, LimitUnit, StoreError, StoreFuture,
    Timestamp,
};

#[derive(Default)]
pub(super) struct SharedLimits(BTreeMap<LimitId, LimitRow>);

impl SharedLimits {
    /// Removes rows that have expired at `now`. Returns their number.
    pub(super) fn purge(&mut self, now: Timestamp, most: u32) -> u64 {
        let over = self.0.iter().filter(|(_, row)| row.ends <= now);
        let over = over.take(limited(Some(most)));
        let over: Vec<LimitId> = over.map(|(id, _)| id.clone()).collect();
        for id in &over {
            self.0.remove(id);
        }
        count(over.len())
    }
}

impl Tables {
    fn take_limit(&mut self, take: &LimitTake) -> Result<LimitTaken, StoreError> {
        take.check()?;
        let (rows, at) = (&mut self.limits.0, take.at);
        let row = rows
            .entry(take.id.clone())
            .or_insert_with(|| LimitRow::new(take.id.clone(), at));
        Ok(match row.take(take, at) {
            Some(unit) => LimitTaken::Taken(unit),
            None => LimitTaken::Refused(row.wait(&take.rule, at)),
        })
    }
}

impl LimitStore for MemoryStore {
    fn take_limit(&self, take: LimitTake) -> StoreFuture<'_, LimitTaken> {
        self.step(move |tables| tables.take_limit(&take))
    }

    fn extend_permit<'a>(
        &'a self,
        id: &'a LimitId,
        token: &'a str,
        lease: Duration,
        at: Timestamp,
    ) -> StoreFuture<'a, bool> {
        self.step(move |tables| {
            let row = tables.limits.0.get_mut(id);
            Ok(row.is_some_and(|row| row.extend(token, lease, at)))
        })
    }

    fn return_limit<'a>(
        &'a self,
        id: &'a LimitId,
        unit: &'a LimitUnit,
        at: Timestamp,
    ) -> StoreFuture<'a, bool> {
        self.step(move |tables| {
            let row = tables.limits.0.get_mut(id);
            Ok(row.is_some_and(|row| row.return_unit(unit, at)))
        })
    }

    fn limit<'a>(&'a self, id: &'a LimitId) -> StoreFuture<'a, Option<LimitRow>> {
        self.step(move |tables| Ok(tables.limits.0.get(id).cloned()))
    }
}
