//! In-memory store of audit rows.

use std::collections::{BTreeMap, HashMap, hash_map};
use std::hash::{BuildHasherDefault, DefaultHasher};
use std::ops::Bound;

use super::event::Noted;
use super::{MemoryStore, count, limited};
use crate::store::{
    AuditFilter, AuditRow, AuditSink, CallKey, Journal, Scope, StoreFuture, Timestamp, Workspace,
};

#[derive(Default)]
pub(super) struct Audit {
    /// The arrival time of each row's call, which is the first half of its key in `rows`. Only single keys are looked up, so the order does not
    /// matter. The keys are random or made by the host, so a hasher without a random seed is enough.
    started: HashMap<CallKey, Timestamp, BuildHasherDefault<DefaultHasher>>,
    /// All rows, in the order of exports.
    rows: BTreeMap<(Timestamp, CallKey), AuditRow>,
    pub(super) noted: Vec<Noted>,
}

impl Audit {
    /// Stores a row in place of the row with the same identity, unless the outcome of that row is final.
    pub(super) fn write(&mut self, row: AuditRow) {
        let place = row.place();
        match self.started.entry(place.1.clone()) {
            hash_map::Entry::Vacant(entry) => {
                entry.insert(place.0);
            }
            hash_map::Entry::Occupied(mut entry) => {
                let before = (*entry.get(), place.1.clone());
                if self.rows.get(&before).is_some_and(AuditRow::is_final) {
                    return;
                }
                self.rows.remove(&before);
                entry.insert(place.0);
            }
        }
        let key = vec![place.1.as_str().to_owned()];
        self.noted.push((Some(place.1.workspace().clone()), key));
        self.rows.insert(place, row);
    }

    fn export(&self, scope: Scope<'_>, filter: &AuditFilter) -> Vec<AuditRow> {
        let bound = |at: Timestamp| (at, CallKey::new("", ""));
        let from = filter
            .since
            .map_or(Bound::Unbounded, |at| Bound::Included(bound(at)));
        let to = filter
            .until
            .map_or(Bound::Unbounded, |at| Bound::Excluded(bound(at)));
        if filter
            .since
            .zip(filter.until)
            .is_some_and(|(since, until)| since >= until)
        {
            return Vec::new();
        }
        let rows = self.rows.range((from, to)).map(|(_, row)| row);
        let rows: &mut dyn Iterator<Item = &AuditRow> = if filter.newest_first {
            &mut rows.rev()
        } else {
            &mut rows.into_iter()
        };
        rows.filter(|row| scope.covers(row.identity.workspace()))
            .filter(|row| filter.admits(row))
            .take(limited(filter.limit))
            .cloned()
            .collect()
    }

    /// Keeps the rows for which `keep` returns true, and returns how many were removed.
    pub(super) fn keep(&mut self, keep: impl Fn(&AuditRow) -> bool) -> u64 {
        let before = self.rows.len();
        self.rows.retain(|_, row| {
            let kept = keep(row);
            if !kept {
                self.started.remove(&row.identity.key());
            }
            kept
        });
        count(before - self.rows.len())
    }
}

impl AuditSink for MemoryStore {
    fn journal(&self) -> Option<Journal> {
        Some(self.as_journal())
    }

    fn write(&self, rows: Vec<AuditRow>) -> StoreFuture<'_, ()> {
        self.step(|tables| {
            for row in rows {
                tables.audit.write(row);
            }
            Ok(())
        })
    }

    fn export<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a AuditFilter,
    ) -> StoreFuture<'a, Vec<AuditRow>> {
        self.step(move |tables| Ok(tables.audit.export(scope, filter)))
    }

    fn erase<'a>(&'a self, workspace: &'a Workspace, principal: &'a str) -> StoreFuture<'a, u64> {
        self.step(move |tables| {
            Ok(tables.audit.keep(|row| {
                row.identity.workspace() != workspace
                    || row.principal.as_deref() != Some(principal)
                    || row.is_of_operator()
            }))
        })
    }

    fn retain<'a>(&'a self, scope: Scope<'a>, since: Timestamp) -> StoreFuture<'a, u64> {
        self.step(move |tables| {
            Ok(tables
                .audit
                .keep(|row| !scope.covers(row.identity.workspace()) || row.started >= since))
        })
    }
}
