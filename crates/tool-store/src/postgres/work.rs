//! The queue of threads in PostgreSQL.

use std::time::Duration;

use crate::digest::sha256;
use crate::sql::work as shared;
use crate::store::{
    ClaimedWork, NewMessage, NewWork, Scope, StoreFuture, ThreadId, Timestamp, WorkClaim,
    WorkFilter, WorkOutcome, WorkRow, WorkStore,
};

use super::change::change;
use super::{PostgresStore, lock_number, step};

/// Returns the advisory lock of a transaction that queues a thread, so that two transactions do not both insert its row.
fn lock(thread: &ThreadId) -> i64 {
    let (workspace, conversation) = (thread.workspace().as_str(), thread.conversation());
    lock_number(&sha256(&["work", workspace, conversation]))
}

impl WorkStore for PostgresStore {
    fn queue_work(
        &self,
        work: NewWork,
        message: Option<NewMessage>,
    ) -> StoreFuture<'_, (WorkRow, Option<u64>)> {
        step(async move {
            work.check(message.as_ref())?;
            let sealer = self.contents().sealer_if(message.is_some()).await?;
            let locks = || vec![lock(&work.thread)];
            let queued = change!(self, locks(), db => shared::queue(db, &work, message.as_ref(), &sealer).await)?;
            self.hint_of(Some(&queued.0));
            Ok(queued)
        })
    }

    fn wake_work<'a>(
        &'a self,
        thread: &'a ThreadId,
        delay: Duration,
        at: Timestamp,
    ) -> StoreFuture<'a, Option<WorkRow>> {
        step(async move {
            let woken = change!(self, Vec::new(), db => shared::wake(db, thread, delay, at).await)?;
            self.hint_of(woken.as_ref());
            Ok(woken)
        })
    }

    fn claim_work(&self, claim: WorkClaim) -> StoreFuture<'_, ClaimedWork> {
        step(async move {
            if claim.limit == 0 {
                return Ok(ClaimedWork::default());
            }
            change!(self, Vec::new(), db => shared::claim(db, &claim).await)
        })
    }

    fn claim_thread<'a>(
        &'a self,
        thread: &'a ThreadId,
        claim: WorkClaim,
    ) -> StoreFuture<'a, ClaimedWork> {
        step(async move {
            change!(self, Vec::new(), db => shared::claim_thread(db, thread, &claim).await)
        })
    }

    fn extend_work<'a>(
        &'a self,
        thread: &'a ThreadId,
        token: &'a str,
        lease: Duration,
        at: Timestamp,
    ) -> StoreFuture<'a, Option<WorkRow>> {
        step(async move {
            change!(self, Vec::new(), db => shared::extend(db, thread, token, lease, at).await)
        })
    }

    fn release_work<'a>(
        &'a self,
        thread: &'a ThreadId,
        token: &'a str,
        outcome: WorkOutcome,
        at: Timestamp,
    ) -> StoreFuture<'a, Option<WorkRow>> {
        step(async move {
            let released = change!(self, Vec::new(), db => shared::release(db, thread, token, outcome, at).await)?;
            self.hint_of(released.as_ref());
            Ok(released)
        })
    }

    fn work_hint(&self, hint: u64) -> StoreFuture<'_, u64> {
        step(async move { Ok(self.0.listening.work_queued(hint).await) })
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
        step(async move { change!(self, Vec::new(), db => shared::remove(db, thread).await) })
    }
}

impl PostgresStore {
    /// Notifies the workers of other processes if a row was queued that is ready at once.
    fn hint_of(&self, row: Option<&WorkRow>) {
        if row.is_some_and(WorkRow::is_queued_now) {
            self.hint_work();
        }
    }
}
