//! The queue of threads in SQLite.

use std::time::Duration;

use crate::sql::work as shared;
use crate::store::{
    ClaimedWork, NewMessage, NewWork, Scope, StoreFuture, ThreadId, Timestamp, WorkClaim,
    WorkFilter, WorkOutcome, WorkRow, WorkStore,
};

use super::{SqliteStore, step};

impl WorkStore for SqliteStore {
    fn queue_work(
        &self,
        work: NewWork,
        message: Option<NewMessage>,
    ) -> StoreFuture<'_, (WorkRow, Option<u64>)> {
        step(async move {
            work.check(message.as_ref())?;
            let sealer = self.contents.sealer_if(message.is_some()).await?;
            let queued = self.change(move |db| {
                Box::pin(async move { shared::queue(db, &work, message.as_ref(), &sealer).await })
            });
            queued.await
        })
    }

    fn wake_work<'a>(
        &'a self,
        thread: &'a ThreadId,
        delay: Duration,
        at: Timestamp,
    ) -> StoreFuture<'a, Option<WorkRow>> {
        let thread = thread.clone();
        step(
            self.change(move |db| {
                Box::pin(async move { shared::wake(db, &thread, delay, at).await })
            }),
        )
    }

    fn claim_work(&self, claim: WorkClaim) -> StoreFuture<'_, ClaimedWork> {
        step(async move {
            // An idle worker polls often, so the write lock is taken only if a row is ready.
            let mut is_idle = true;
            for agent in &claim.agents {
                for suspects in [false, true] {
                    if suspects && claim.suspects == 0 {
                        continue;
                    }
                    let ready = shared::ready("state", agent, claim.at, suspects, 1);
                    is_idle = is_idle && self.has_none(ready.query).await?;
                }
            }
            if is_idle || claim.limit == 0 {
                return Ok(ClaimedWork::default());
            }
            let claimed =
                self.change(move |db| Box::pin(async move { shared::claim(db, &claim).await }));
            claimed.await
        })
    }

    fn claim_thread<'a>(
        &'a self,
        thread: &'a ThreadId,
        claim: WorkClaim,
    ) -> StoreFuture<'a, ClaimedWork> {
        let thread = thread.clone();
        step(self.change(move |db| {
            Box::pin(async move { shared::claim_thread(db, &thread, &claim).await })
        }))
    }

    fn extend_work<'a>(
        &'a self,
        thread: &'a ThreadId,
        token: &'a str,
        lease: Duration,
        at: Timestamp,
    ) -> StoreFuture<'a, Option<WorkRow>> {
        let (thread, token) = (thread.clone(), token.to_owned());
        // In the order of arrival, this change could run only after the lease has expired.
        step(self.change_first(move |db| {
            Box::pin(async move { shared::extend(db, &thread, &token, lease, at).await })
        }))
    }

    fn release_work<'a>(
        &'a self,
        thread: &'a ThreadId,
        token: &'a str,
        outcome: WorkOutcome,
        at: Timestamp,
    ) -> StoreFuture<'a, Option<WorkRow>> {
        let (thread, token) = (thread.clone(), token.to_owned());
        step(self.change_first(move |db| {
            Box::pin(async move { shared::release(db, &thread, &token, outcome, at).await })
        }))
    }

    fn work<'a>(&'a self, thread: &'a ThreadId) -> StoreFuture<'a, Option<WorkRow>> {
        step(async move { shared::work(&mut &*self, thread).await })
    }

    fn list_work<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a WorkFilter,
    ) -> StoreFuture<'a, Vec<WorkRow>> {
        step(async move { shared::list(&mut &*self, scope, filter).await })
    }

    fn remove_work<'a>(&'a self, thread: &'a ThreadId) -> StoreFuture<'a, bool> {
        let thread = thread.clone();
        step(self.change(move |db| Box::pin(async move { shared::remove(db, &thread).await })))
    }
}
