//! Shared limits in SQLite.

use std::time::Duration;

use crate::sql::limit as shared;
use crate::store::{
    LimitId, LimitRow, LimitStore, LimitTake, LimitTaken, LimitUnit, StoreFuture, Timestamp,
};

use super::{SqliteStore, step};

impl LimitStore for SqliteStore {
    fn take_limit(&self, take: LimitTake) -> StoreFuture<'_, LimitTaken> {
        step(async move {
            take.check()?;
            let taken =
                self.change(move |db| Box::pin(async move { shared::take(db, &take).await }));
            taken.await
        })
    }

    fn extend_permit<'a>(
        &'a self,
        id: &'a LimitId,
        token: &'a str,
        lease: Duration,
        at: Timestamp,
    ) -> StoreFuture<'a, bool> {
        let (id, token) = (id.clone(), token.to_owned());
        // In the order of arrival, this change could run only after the lease has expired.
        step(self.change_first(move |db| {
            Box::pin(async move { shared::extend(db, &id, &token, lease, at).await })
        }))
    }

    fn return_limit<'a>(
        &'a self,
        id: &'a LimitId,
        unit: &'a LimitUnit,
        at: Timestamp,
    ) -> StoreFuture<'a, bool> {
        let (id, unit) = (id.clone(), unit.clone());
        step(
            self.change(move |db| {
                Box::pin(async move { shared::give_back(db, &id, &unit, at).await })
            }),
        )
    }

    fn limit<'a>(&'a self, id: &'a LimitId) -> StoreFuture<'a, Option<LimitRow>> {
        step(async move { shared::limit(&mut &*self, id).await })
    }
}
