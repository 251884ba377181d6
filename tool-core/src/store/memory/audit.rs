//! Audit rows in memory.

use std::collections::BTreeMap;

use super::{MemoryStore, count, limited};
use crate::store::{AuditFilter, AuditRow, AuditSink, StoreFuture, Timestamp};

#[derive(Default)]
pub(super) struct Audit {
    /// When each row's call arrived, which is the first half of its key below.
    started: BTreeMap<String, Timestamp>,
    /// Rows in the order of exports.
    rows: BTreeMap<(Timestamp, String), AuditRow>,
}

impl Audit {
    /// Stores a row in place of the one of its id.
    pub(super) fn write(&mut self, row: AuditRow) {
        if let Some(started) = self.started.insert(row.id.clone(), row.started) {
            self.rows.remove(&(started, row.id.clone()));
        }
        self.rows.insert((row.started, row.id.clone()), row);
    }

    fn export(&self, filter: &AuditFilter) -> Vec<AuditRow> {
        let rows = match filter.since {
            Some(since) => self.rows.range((since, String::new())..),
            None => self.rows.range(..),
        };
        rows.map(|(_, row)| row)
            .take_while(|row| filter.until.is_none_or(|until| row.started < until))
            .filter(|row| filter.admits(row))
            .take(limited(filter.limit))
            .cloned()
            .collect()
    }

    /// Keeps the rows for which `keep` holds, and returns how many went.
    fn keep(&mut self, keep: impl Fn(&AuditRow) -> bool) -> u64 {
        let before = self.rows.len();
        self.rows.retain(|_, row| {
            let kept = keep(row);
            if !kept {
                self.started.remove(&row.id);
            }
            kept
        });
        count(before - self.rows.len())
    }
}

impl AuditSink for MemoryStore {
    fn write(&self, rows: Vec<AuditRow>) -> StoreFuture<'_, ()> {
        self.step(|tables| {
            for row in rows {
                tables.audit.write(row);
            }
            Ok(())
        })
    }

    fn export<'a>(&'a self, filter: &'a AuditFilter) -> StoreFuture<'a, Vec<AuditRow>> {
        self.step(|tables| Ok(tables.audit.export(filter)))
    }

    fn erase<'a>(&'a self, tenant: &'a str, principal: &'a str) -> StoreFuture<'a, u64> {
        self.step(move |tables| {
            Ok(tables.audit.keep(|row| {
                row.tenant.as_deref() != Some(tenant) || row.principal.as_deref() != Some(principal)
            }))
        })
    }

    fn retain(&self, since: Timestamp) -> StoreFuture<'_, u64> {
        self.step(move |tables| Ok(tables.audit.keep(|row| row.started >= since)))
    }
}
