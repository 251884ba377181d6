//! Budgets in SQLite.

use crate::sql::budget as shared;
use crate::store::{
    BudgetFilter, BudgetId, BudgetRow, BudgetSettlement, BudgetStore, NewReservation, Reserved,
    Scope, StoreFuture,
};

use super::{SqliteStore, step};

impl BudgetStore for SqliteStore {
    fn reserve_budget(&self, new: NewReservation) -> StoreFuture<'_, Reserved> {
        step(async move {
            new.check()?;
            let reserved =
                self.change(move |db| Box::pin(async move { shared::reserve(db, &new).await }));
            reserved.await
        })
    }

    fn settle_budget(&self, end: BudgetSettlement) -> StoreFuture<'_, Option<BudgetRow>> {
        step(self.change(move |db| Box::pin(async move { shared::settle(db, &end).await })))
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
        let id = id.clone();
        step(self.change(move |db| Box::pin(async move { shared::remove(db, &id).await })))
    }
}
