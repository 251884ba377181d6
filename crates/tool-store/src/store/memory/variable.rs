//! In-memory store of variables, and of requests for them.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::{MemoryStore, Tables, count, limited};
use crate::store::{
    Scope, Sealed, SealedPlace, StoreError, StoreFuture, ThreadId, Timestamp, VariableFilter,
    VariableInfo, VariableRequest, VariableRequestStore, VariableRow, VariableScope, VariableStore,
    VariableValue, Workspace,
};

#[derive(Default)]
pub(super) struct Variables {
    rows: BTreeMap<(VariableScope, String), VariableRow>,
    requests: BTreeMap<(Workspace, String), VariableRequest>,
}

impl Variables {
    pub(super) fn sealed(&self) -> impl Iterator<Item = (SealedPlace, &Sealed)> {
        let rows = self.rows.values();
        rows.filter_map(|row| Some((row.place(), row.sealed()?)))
    }

    pub(super) fn sealed_at(&mut self, place: &SealedPlace) -> Option<&mut Sealed> {
        let mut rows = self.rows.values_mut();
        let row = rows.find(|row| row.place() == *place)?;
        match &mut row.value {
            VariableValue::Clear(_) => None,
            VariableValue::Sealed(sealed) => Some(sealed),
        }
    }

    /// Removes the requests of a thread.
    pub(super) fn remove_requests(&mut self, thread: &ThreadId) {
        self.requests.retain(|_, request| request.thread != *thread);
    }

    /// Removes a variable, and returns whether it existed.
    pub(super) fn remove(&mut self, scope: &VariableScope, name: &str) -> bool {
        let key = (scope.clone(), name.to_owned());
        self.rows.remove(&key).is_some()
    }

    /// Removes all variables of an owner, and returns their number.
    pub(super) fn remove_all(&mut self, scope: &VariableScope) -> u64 {
        let before = self.rows.len();
        self.rows.retain(|(owner, _), _| owner != scope);
        count(before - self.rows.len())
    }
}

impl Tables {
    pub(super) fn put_variables(&mut self, rows: Vec<VariableRow>) -> Result<(), StoreError> {
        for row in &rows {
            row.check()?;
            if let Some(sealed) = row.sealed() {
                self.seal_keys.check_use(sealed)?;
            }
            let all = self.variables.rows.values().chain(&rows);
            for other in all.filter(|other| other.id == row.id) {
                let is_same = other.scope == row.scope && other.name == row.name;
                if !is_same && other.scope.in_workspace() == row.scope.in_workspace() {
                    return Err(row.place().taken());
                }
            }
        }
        for row in rows {
            let key = (row.scope.clone(), row.name.clone());
            self.variables.rows.insert(key, row);
        }
        Ok(())
    }

    pub(super) fn answer_request(
        &mut self,
        workspace: &Workspace,
        id: &str,
        rows: Vec<VariableRow>,
    ) -> Result<Vec<String>, StoreError> {
        let key = (workspace.clone(), id.to_owned());
        let request = self.variables.requests.get(&key);
        let request = request.ok_or_else(|| VariableRequest::gone(id))?;
        let missing = request.answered(&rows)?;
        self.put_variables(rows)?;
        if missing.is_empty() {
            self.variables.requests.remove(&key);
        } else if let Some(request) = self.variables.requests.get_mut(&key) {
            request.missing.clone_from(&missing);
        }
        Ok(missing)
    }
}

impl VariableStore for MemoryStore {
    fn put_variables(&self, rows: Vec<VariableRow>) -> StoreFuture<'_, ()> {
        self.step(|tables| tables.put_variables(rows))
    }

    fn variables<'a>(&'a self, scopes: &'a [VariableScope]) -> StoreFuture<'a, Vec<VariableRow>> {
        self.step(move |tables| {
            let rows = tables.variables.rows.values();
            let rows = rows.filter(|row| scopes.contains(&row.scope));
            Ok(rows.cloned().collect())
        })
    }

    fn list_variables<'a>(
        &'a self,
        workspace: &'a Workspace,
        filter: &'a VariableFilter,
    ) -> StoreFuture<'a, Vec<VariableInfo>> {
        self.step(move |tables| {
            let rows = tables.variables.rows.values();
            let rows = rows.filter(|row| row.scope.in_workspace() == workspace);
            let rows = rows.filter(|row| filter.admits(row));
            Ok(rows
                .take(limited(filter.limit))
                .map(VariableRow::info)
                .collect())
        })
    }

    fn remove_variable<'a>(
        &'a self,
        scope: &'a VariableScope,
        name: &'a str,
    ) -> StoreFuture<'a, bool> {
        self.step(move |tables| Ok(tables.variables.remove(scope, name)))
    }

    fn remove_variables<'a>(&'a self, scope: &'a VariableScope) -> StoreFuture<'a, u64> {
        self.step(move |tables| Ok(tables.variables.remove_all(scope)))
    }
}

impl VariableRequestStore for MemoryStore {
    fn open_request(&self, request: VariableRequest) -> StoreFuture<'_, ()> {
        self.step(|tables| {
            request.check()?;
            let key = (request.workspace().clone(), request.id.clone());
            match tables.variables.requests.entry(key) {
                Entry::Occupied(_) => Err(request.exists()),
                Entry::Vacant(place) => {
                    place.insert(request);
                    Ok(())
                }
            }
        })
    }

    fn request<'a>(
        &'a self,
        workspace: &'a Workspace,
        id: &'a str,
    ) -> StoreFuture<'a, Option<VariableRequest>> {
        self.step(move |tables| {
            let key = (workspace.clone(), id.to_owned());
            Ok(tables.variables.requests.get(&key).cloned())
        })
    }

    fn requests<'a>(&'a self, thread: &'a ThreadId) -> StoreFuture<'a, Vec<VariableRequest>> {
        self.step(move |tables| {
            let rows = tables.variables.requests.values();
            Ok(rows.filter(|row| row.thread == *thread).cloned().collect())
        })
    }

    fn answer_request<'a>(
        &'a self,
        workspace: &'a Workspace,
        id: &'a str,
        rows: Vec<VariableRow>,
    ) -> StoreFuture<'a, Vec<String>> {
        self.step(move |tables| tables.answer_request(workspace, id, rows))
    }

    fn withdraw_request<'a>(
        &'a self,
        workspace: &'a Workspace,
        id: &'a str,
    ) -> StoreFuture<'a, bool> {
        self.step(move |tables| {
            let key = (workspace.clone(), id.to_owned());
            Ok(tables.variables.requests.remove(&key).is_some())
        })
    }

    fn expire_requests<'a>(
        &'a self,
        scope: Scope<'a>,
        since: Timestamp,
        most: u32,
    ) -> StoreFuture<'a, u64> {
        self.step(move |tables| {
            let rows = tables.variables.requests.iter();
            let over = rows.filter(|(_, row)| row.at < since && scope.covers(row.workspace()));
            let over = over.take(limited(Some(most)));
            let over: Vec<_> = over.map(|(key, _)| key.clone()).collect();
            for key in &over {
                tables.variables.requests.remove(key);
            }
            Ok(count(over.len()))
        })
    }
}
