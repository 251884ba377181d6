//! In-memory store of sealed secrets.

use std::collections::BTreeMap;
use std::ops::Bound;

use super::{MemoryStore, Tables, limited};
use crate::store::{
    Scope, Sealed, SealedPlace, SecretFilter, SecretInfo, SecretRow, SecretStore, StoreError,
    StoreFuture, Timestamp, Workspace,
};

#[derive(Default)]
pub(super) struct Secrets(BTreeMap<(Workspace, String), SecretRow>);

impl Secrets {
    pub(super) fn sealed(&self) -> impl Iterator<Item = (SealedPlace, &Sealed)> {
        self.0.values().map(|row| (row.place(), &row.sealed))
    }

    pub(super) fn sealed_at(&mut self, place: &SealedPlace) -> Option<&mut Sealed> {
        let mut rows = self.0.values_mut();
        let row = rows.find(|row| row.place() == *place)?;
        Some(&mut row.sealed)
    }

    /// Removes a secret, and returns whether it existed.
    pub(super) fn remove(&mut self, workspace: &Workspace, name: &str) -> bool {
        let key = (workspace.clone(), name.to_owned());
        self.0.remove(&key).is_some()
    }

    fn rename(
        &mut self,
        workspace: &Workspace,
        (from, to): (&str, &str),
        by: &str,
        at: Timestamp,
    ) -> Result<bool, StoreError> {
        let Some(row) = self.0.get(&(workspace.clone(), from.to_owned())) else {
            return Ok(false);
        };
        let renamed = SecretRow {
            name: to.to_owned(),
            by: by.to_owned(),
            at,
            ..row.clone()
        };
        renamed.check()?;
        let new = (workspace.clone(), to.to_owned());
        if from != to && self.0.contains_key(&new) {
            return Err(SecretRow::taken(to));
        }
        self.0.remove(&(workspace.clone(), from.to_owned()));
        self.0.insert(new, renamed);
        Ok(true)
    }
}

impl Tables {
    pub(super) fn put_secret(&mut self, row: SecretRow) -> Result<(), StoreError> {
        row.check()?;
        self.seal_keys.check_use(&row.sealed)?;
        let rows = self.secrets.0.values();
        for other in rows.filter(|other| other.workspace == row.workspace) {
            if other.id == row.id && other.name != row.name {
                return Err(row.place().taken());
            }
        }
        let key = (row.workspace.clone(), row.name.clone());
        self.secrets.0.insert(key, row);
        Ok(())
    }
}

impl SecretStore for MemoryStore {
    fn put_secret(&self, row: SecretRow) -> StoreFuture<'_, ()> {
        self.step(|tables| tables.put_secret(row))
    }

    fn secrets<'a>(
        &'a self,
        workspace: &'a Workspace,
        names: &'a [String],
    ) -> StoreFuture<'a, Vec<SecretRow>> {
        self.step(move |tables| {
            let rows = tables.secrets.0.values();
            let rows = rows.filter(|row| row.workspace == *workspace && names.contains(&row.name));
            Ok(rows.cloned().collect())
        })
    }

    fn list_secrets<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a SecretFilter,
    ) -> StoreFuture<'a, Vec<SecretInfo>> {
        self.step(move |tables| {
            let from = filter.after.clone();
            let from = from.map_or(Bound::Unbounded, Bound::Excluded);
            let rows = tables.secrets.0.range((from, Bound::Unbounded));
            let rows = rows.map(|(_, row)| row);
            let rows = rows.filter(|row| scope.covers(&row.workspace));
            Ok(rows
                .take(limited(filter.limit))
                .map(SecretRow::info)
                .collect())
        })
    }

    fn rename_secret<'a>(
        &'a self,
        workspace: &'a Workspace,
        from: &'a str,
        to: &'a str,
        by: &'a str,
        at: Timestamp,
    ) -> StoreFuture<'a, bool> {
        self.step(move |tables| tables.secrets.rename(workspace, (from, to), by, at))
    }

    fn remove_secret<'a>(
        &'a self,
        workspace: &'a Workspace,
        name: &'a str,
    ) -> StoreFuture<'a, bool> {
        self.step(move |tables| Ok(tables.secrets.remove(workspace, name)))
    }
}
