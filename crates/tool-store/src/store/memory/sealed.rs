//! In-memory store of the keys, and access to the sealed values of all tables.

use std::collections::BTreeMap;

use super::{MemoryStore, Tables, count, limited};
use crate::store::{
    KeyId, KeyUse, Reseal, SealKeyRow, SealStore, Sealed, SealedColumn, SealedPlace, SealedRow,
    StoreError, StoreFuture, Timestamp,
};

#[derive(Default)]
pub(super) struct Keys(BTreeMap<KeyId, SealKeyRow>);

impl Keys {
    /// Fails if the key of a value to write is unknown or retired.
    pub(super) fn check_use(&self, sealed: &Sealed) -> Result<(), StoreError> {
        SealKeyRow::check_use(sealed.key(), self.0.get(sealed.key()))
    }
}

impl Tables {
    /// Returns the sealed values of a column, unordered. Columns of contents have none, because this store keeps no contents on a disk and does not
    /// seal them.
    fn sealed(
        &self,
        column: SealedColumn,
    ) -> Box<dyn Iterator<Item = (SealedPlace, &Sealed)> + '_> {
        match column {
            SealedColumn::Secret => Box::new(self.secrets.sealed()),
            SealedColumn::Variable => Box::new(self.variables.sealed()),
            SealedColumn::Arguments
            | SealedColumn::EditedArguments
            | SealedColumn::Message
            | SealedColumn::ThreadEvent
            | SealedColumn::PlanSpec
            | SealedColumn::PlanState
            | SealedColumn::SpillChunk
            | SealedColumn::Response => Box::new(std::iter::empty()),
        }
    }

    /// Returns the sealed value at a place.
    fn sealed_at(&mut self, place: &SealedPlace) -> Option<&mut Sealed> {
        match place.column {
            SealedColumn::Secret => self.secrets.sealed_at(place),
            SealedColumn::Variable => self.variables.sealed_at(place),
            SealedColumn::Arguments
            | SealedColumn::EditedArguments
            | SealedColumn::Message
            | SealedColumn::ThreadEvent
            | SealedColumn::PlanSpec
            | SealedColumn::PlanState
            | SealedColumn::SpillChunk
            | SealedColumn::Response => None,
        }
    }

    fn key_uses(&self) -> Vec<KeyUse> {
        let mut uses: BTreeMap<(SealedColumn, KeyId), u64> = BTreeMap::new();
        for column in SealedColumn::ALL {
            for (_, sealed) in self.sealed(*column) {
                *uses.entry((*column, sealed.key().clone())).or_default() += 1;
            }
        }
        let uses = uses.into_iter();
        uses.map(|((column, key), values)| KeyUse {
            column,
            key,
            values,
        })
        .collect()
    }

    fn reseal(&mut self, changes: Vec<Reseal>) -> Result<u64, StoreError> {
        for change in &changes {
            self.seal_keys.check_use(&change.new)?;
        }
        let mut done = 0;
        for Reseal { old, new } in changes {
            if let Some(sealed) = self.sealed_at(&old.place)
                && sealed.as_bytes() == &*old.bytes
            {
                *sealed = new;
                done += 1;
            }
        }
        Ok(count(done))
    }

    pub(super) fn retire_key(&mut self, key: &KeyId, now: Timestamp) -> Result<(), StoreError> {
        let uses = self.key_uses();
        SealKeyRow::check_retirement(key, self.seal_keys.0.get(key), &uses)?;
        if let Some(row) = self.seal_keys.0.get_mut(key) {
            row.retired.get_or_insert(now);
        }
        Ok(())
    }
}

impl SealStore for MemoryStore {
    fn register_key(&self, row: SealKeyRow) -> StoreFuture<'_, SealKeyRow> {
        self.step(|tables| {
            let key = row.id.clone();
            Ok(tables.seal_keys.0.entry(key).or_insert(row).clone())
        })
    }

    fn keys(&self) -> StoreFuture<'_, Vec<SealKeyRow>> {
        self.step(|tables| Ok(tables.seal_keys.0.values().cloned().collect()))
    }

    fn key_uses(&self) -> StoreFuture<'_, Vec<KeyUse>> {
        self.step(|tables| Ok(tables.key_uses()))
    }

    fn sealed<'a>(
        &'a self,
        column: SealedColumn,
        key: &'a KeyId,
        after: Option<&'a SealedPlace>,
        most: u32,
    ) -> StoreFuture<'a, Vec<SealedRow>> {
        self.step(move |tables| {
            let rows = tables.sealed(column);
            let rows = rows.filter(|(place, sealed)| {
                sealed.key() == key && after.is_none_or(|after| place > after)
            });
            let rows = rows.map(|(place, sealed)| SealedRow {
                place,
                bytes: sealed.as_bytes().into(),
            });
            let mut rows: Vec<SealedRow> = rows.collect();
            rows.sort_by(|one, other| one.place.cmp(&other.place));
            rows.truncate(limited(Some(most)));
            Ok(rows)
        })
    }

    fn reseal(&self, changes: Vec<Reseal>) -> StoreFuture<'_, u64> {
        self.step(|tables| tables.reseal(changes))
    }

    fn retire_key<'a>(&'a self, key: &'a KeyId, now: Timestamp) -> StoreFuture<'a, ()> {
        self.step(move |tables| tables.retire_key(key, now))
    }
}
