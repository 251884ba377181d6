//! Budgets in PostgreSQL.

use crate::digest::sha256;
use crate::sql::budget as shared;
use crate::store::{
    BudgetFilter, BudgetId, BudgetRow, BudgetSettlement, BudgetStore, NewReservation, Reserved,
    Scope, StoreFuture,
};

use super::change::change;
use super::{PostgresStore, lock_number, step};

/// Returns the advisory lock of a transaction that changes a budget, so that two transactions do not both insert its row.
fn lock(id: &BudgetId) -> i64 {
    let (workspace, name) = (id.workspace().as_str(), id.name());
    lock_number(&sha256(&["budget", workspace, name]))
}

impl BudgetStore for PostgresStore {
    fn reserve_budget(&self, new: NewReservation) -> StoreFuture<'_, Reserved> {
        step(async move {
            new.check()?;
            let locks = || vec![lock(&new.budget)];
            change!(self, locks(), db => shared::reserve(db, &new).await)
        })
    }

    fn settle_budget(&self, end: BudgetSettlement) -> StoreFuture<'_, Option<BudgetRow>> {
        step(async move { change!(self, Vec::new(), db => shared::settle(db, &end).await) })
    }

    fn budget<'a>(&'a self, id: &'a BudgetId) -> StoreFuture<'a, Option<BudgetRow>> {
        step(async move { shared::budget(&mut &*self, id).await })
    }

    fn list_budgets<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a BudgetFilter,
    ) -> StoreFuture<'a, Vec<BudgetRow>> {
        step(async move { shared::list(&mut &*self, scope, filter).await })
    }

    fn remove_budget<'a>(&'a self, id: &'a BudgetId) -> StoreFuture<'a, bool> {
        step(async move {
            let locks = || vec![lock(id)];
            change!(self, locks(), db => shared::remove(db, id).await)
        })
    }
}
