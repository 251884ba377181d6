//! In-memory store of budgets.

use std::collections::BTreeMap;

use super::{MemoryStore, Tables, count, limited};
use crate::store::{
    BudgetAmount, BudgetFilter, BudgetId, BudgetRow, BudgetSettlement, BudgetStore, NewReservation,
    Reserved, Scope, StoreError, StoreFuture, ThreadId, Timestamp,
};

#[derive(Default)]
pub(super) struct Budgets {
    rows: BTreeMap<BudgetId, Entry>,
}

struct Entry {
    row: BudgetRow,
    /// The open reservations, by step.
    held: BTreeMap<String, BudgetAmount>,
}

impl Budgets {
    /// Removes the budget with the name of a conversation.
    pub(super) fn erase(&mut self, thread: &ThreadId) {
        self.rows.retain(|id, _| {
            id.workspace() != thread.workspace() || id.name() != thread.conversation()
        });
    }

    /// Removes budgets that have no reservation and were last changed before `since`. Returns their number.
    pub(super) fn purge(&mut self, since: Timestamp, most: u32) -> u64 {
        let is_old =
            |(_, entry): &(&BudgetId, &Entry)| entry.held.is_empty() && entry.row.updated < since;
        let old = self.rows.iter().filter(is_old).take(limited(Some(most)));
        let old: Vec<BudgetId> = old.map(|(id, _)| id.clone()).collect();
        for id in &old {
            self.rows.remove(id);
        }
        count(old.len())
    }
}

impl Tables {
    fn reserve_budget(&mut self, new: NewReservation) -> Result<Reserved, StoreError> {
        new.check()?;
        let rows = &mut self.budgets.rows;
        let Some(entry) = rows.get_mut(&new.budget) else {
            let mut row = BudgetRow::new(new.budget.clone(), new.limits, new.at);
            let Some(amount) = row.reserve(None, &new) else {
                return Ok(Reserved::Refused(Box::new(row)));
            };
            let held = BTreeMap::from([(new.step, amount)]);
            let entry = Entry {
                row: row.clone(),
                held,
            };
            rows.insert(new.budget, entry);
            return Ok(Reserved::Held(amount, Box::new(row)));
        };
        let held = entry.held.get(&new.step).copied();
        let amount = entry.row.reserve(held, &new);
        let row = Box::new(entry.row.clone());
        Ok(match amount {
            Some(amount) => {
                entry.held.insert(new.step, amount);
                Reserved::Held(amount, row)
            }
            None => Reserved::Refused(row),
        })
    }

    fn settle_budget(&mut self, end: &BudgetSettlement) -> Option<BudgetRow> {
        let entry = self.budgets.rows.get_mut(&end.budget)?;
        let held = entry.held.remove(&end.step)?;
        entry.row.settle(held, end);
        Some(entry.row.clone())
    }
}

impl BudgetStore for MemoryStore {
    fn reserve_budget(&self, new: NewReservation) -> StoreFuture<'_, Reserved> {
        self.step(move |tables| tables.reserve_budget(new))
    }

    fn settle_budget(&self, end: BudgetSettlement) -> StoreFuture<'_, Option<BudgetRow>> {
        self.step(move |tables| Ok(tables.settle_budget(&end)))
    }

    fn budget<'a>(&'a self, id: &'a BudgetId) -> StoreFuture<'a, Option<BudgetRow>> {
        self.step(move |tables| Ok(tables.budgets.rows.get(id).map(|entry| entry.row.clone())))
    }

    fn list_budgets<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a BudgetFilter,
    ) -> StoreFuture<'a, Vec<BudgetRow>> {
        self.step(move |tables| {
            let rows = tables.budgets.rows.values().map(|entry| &entry.row);
            let rows = rows.filter(|row| {
                let after = filter.after.as_ref();
                scope.covers(row.workspace()) && after.is_none_or(|after| row.id > *after)
            });
            Ok(rows.take(limited(filter.limit)).cloned().collect())
        })
    }

    fn remove_budget<'a>(&'a self, id: &'a BudgetId) -> StoreFuture<'a, bool> {
        self.step(move |tables| Ok(tables.budgets.rows.remove(id).is_some()))
    }
}
