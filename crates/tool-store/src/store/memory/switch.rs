//! In-memory store of switches.

use std::collections::BTreeMap;
use std::ops::Bound;

use super::event::Noted;
use super::{MemoryStore, count, limited};
use crate::store::{
    Scope, StoreError, StoreFuture, Switch, SwitchFilter, SwitchKey, SwitchKind, SwitchStore,
    Timestamp, Workspace,
};

#[derive(Default)]
pub(super) struct Switches {
    rows: BTreeMap<SwitchKey, Switch>,
    version: u64,
    pub(super) noted: Vec<Noted>,
}

impl Switches {
    pub(super) fn get(&self, key: &SwitchKey) -> Option<&Switch> {
        self.rows.get(key)
    }

    pub(super) fn set(&mut self, switch: Switch) -> Result<bool, StoreError> {
        switch.check()?;
        self.version += 1;
        let on = switch.on;
        let (kind, key) = (switch.key.kind.as_str(), &switch.key);
        let text = vec![kind.to_owned(), key.tool.clone(), key.source.clone()];
        self.noted.push((key.workspace.clone(), text));
        let before = self.rows.insert(switch.key.clone(), switch);
        Ok(before.is_some_and(|before| before.on) != on)
    }

    fn list(&self, scope: Scope<'_>, filter: &SwitchFilter) -> Vec<Switch> {
        let from = filter.after.clone();
        let from = from.map_or(Bound::Unbounded, Bound::Excluded);
        self.rows
            .range((from, Bound::Unbounded))
            .map(|(_, switch)| switch)
            .filter(|switch| is_of(switch, scope) && filter.admits(switch))
            .take(limited(filter.limit))
            .cloned()
            .collect()
    }

    pub(super) fn retire(&mut self, scope: Scope<'_>, since: Timestamp, most: u32) -> u64 {
        let over = self.rows.values().filter(|switch| {
            let is_over = !switch.on && switch.key.kind != SwitchKind::Enable && switch.at < since;
            is_over && is_of(switch, scope)
        });
        let over = over.take(limited(Some(most)));
        let over: Vec<SwitchKey> = over.map(|switch| switch.key.clone()).collect();
        for key in &over {
            self.rows.remove(key);
        }
        count(over.len())
    }
}

fn is_of(switch: &Switch, scope: Scope<'_>) -> bool {
    match (scope.workspace(), &switch.key.workspace) {
        (None, _) => true,
        (Some(wanted), Some(own)) => wanted == own,
        (Some(_), None) => false,
    }
}

impl SwitchStore for MemoryStore {
    fn is_durable(&self) -> bool {
        false
    }

    fn set(&self, switch: Switch) -> StoreFuture<'_, bool> {
        self.step(|tables| tables.switches.set(switch))
    }

    fn version(&self) -> StoreFuture<'_, u64> {
        self.step(|tables| Ok(tables.switches.version))
    }

    fn in_force(&self) -> StoreFuture<'_, Vec<Switch>> {
        self.step(|tables| {
            let rows = tables.switches.rows.values();
            let rows = rows.filter(|switch| switch.on && switch.key.kind != SwitchKind::Enable);
            Ok(rows.cloned().collect())
        })
    }

    fn enablement<'a>(&'a self, workspace: &'a Workspace) -> StoreFuture<'a, Vec<Switch>> {
        self.step(move |tables| {
            let rows = tables.switches.rows.values();
            let rows = rows.filter(|switch| {
                let own = switch.key.workspace.as_ref();
                switch.key.kind == SwitchKind::Enable && own.is_none_or(|own| own == workspace)
            });
            Ok(rows.cloned().collect())
        })
    }

    fn switches<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a SwitchFilter,
    ) -> StoreFuture<'a, Vec<Switch>> {
        self.step(move |tables| Ok(tables.switches.list(scope, filter)))
    }

    fn retire<'a>(&'a self, scope: Scope<'a>, since: Timestamp, most: u32) -> StoreFuture<'a, u64> {
        self.step(move |tables| Ok(tables.switches.retire(scope, since, most)))
    }
}
