//! Shared limits in PostgreSQL.

use std::time::Duration;

use crate::sql::limit as shared;
use crate::store::{
    LimitId, LimitRow, LimitStore, LimitTake, LimitTaken, LimitUnit, StoreFuture, Timestamp,
};

use super::change::change;
use super::{PostgresStore, step};

impl LimitStore for PostgresStore {
    fn take_limit(&self, take: LimitTake) -> StoreFuture<'_, LimitTaken> {
        step(async move {
            take.check()?;
            change!(self, Vec::new(), db => shared::take(db, &take).await)
        })
    }

    fn extend_permit<'a>(
        &'a self,
        id: &'a LimitId,
        token: &'a str,
        lease: Duration,
        at: Timestamp,
    ) -> StoreFuture<'a, bool> {
        step(async move {
            change!(self, Vec::new(), db => shared::extend(db, id, token, lease, at).await)
        })
    }

    fn return_limit<'a>(
        &'a self,
        id: &'a LimitId,
        unit: &'a LimitUnit,
        at: Timestamp,
    ) -> StoreFuture<'a, bool> {
        step(
            async move { change!(self, Vec::new(), db => shared::give_back(db, id, unit, at).await) },
        )
    }

    fn limit<'a>(&'a self, id: &'a LimitId) -> StoreFuture<'a, Option<LimitRow>> {
        step(async move { shared::limit(&mut &*self, id).await })
    }
}
