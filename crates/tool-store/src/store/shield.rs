//! Panic shields: wrappers of stores that catch the panics of a store's methods, so that callers do not handle panics.

// A shield that does not forward a method would replace the store's method with the default implementation.
#![warn(clippy::missing_trait_methods)]

use std::any::Any;
use std::future::ready;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
#[cfg(feature = "host")]
use std::time::Duration;

use futures::FutureExt as _;

use super::{Scope, Spill, SpillPart, SpillStore, StoreError, StoreFuture, Timestamp, Workspace};
use crate::panics::panic_text;

#[cfg(feature = "host")]
use super::{
    BudgetFilter, BudgetId, BudgetRow, BudgetSettlement, BudgetStore, NewReservation, Reserved,
};
#[cfg(feature = "host")]
use super::{
    ChildChange, ChildFilter, ChildMessage, ChildOpened, ChildRow, ChildSender, ChildStore,
    ClaimedWork, EndedSession, Journal, Message, NewMessage, NewRun, NewThreadEvents, NewWork,
    Role, RunBegun, RunEnd, RunFilter, RunId, RunProgress, RunRow, RunStop, RunStore, SessionEnd,
    ThreadEvent, ThreadEventStore, ThreadId, ThreadStore, WorkClaim, WorkFilter, WorkOutcome,
    WorkRow, WorkStore,
};
#[cfg(feature = "host")]
use super::{LimitId, LimitRow, LimitStore, LimitTake, LimitTaken, LimitUnit};

#[cfg(feature = "host")]
mod host;

#[cfg(feature = "host")]
pub use host::{approvals, ledger, sink};

/// A store whose panics are caught. A panic of an asynchronous method becomes [`StoreError::Unavailable`], and a panic of any other method becomes a
/// fixed value.
pub struct Shield<S: ?Sized>(pub(crate) Arc<S>);

#[cfg(feature = "host")]
pub fn threads(store: Arc<dyn ThreadStore>) -> Arc<dyn ThreadStore> {
    Arc::new(Shield(store))
}

#[cfg(feature = "host")]
pub fn runs(store: Arc<dyn RunStore>) -> Arc<dyn RunStore> {
    Arc::new(Shield(store))
}

#[cfg(feature = "host")]
pub fn children(store: Arc<dyn ChildStore>) -> Arc<dyn ChildStore> {
    Arc::new(Shield(store))
}

#[cfg(feature = "host")]
pub fn work(store: Arc<dyn WorkStore>) -> Arc<dyn WorkStore> {
    Arc::new(Shield(store))
}

#[cfg(feature = "host")]
pub fn thread_events(store: Arc<dyn ThreadEventStore>) -> Arc<dyn ThreadEventStore> {
    Arc::new(Shield(store))
}

#[cfg(feature = "host")]
pub fn budgets(store: Arc<dyn BudgetStore>) -> Arc<dyn BudgetStore> {
    Arc::new(Shield(store))
}

#[cfg(feature = "host")]
pub fn limits(store: Arc<dyn LimitStore>) -> Arc<dyn LimitStore> {
    Arc::new(Shield(store))
}

pub fn spills(store: Arc<dyn SpillStore>) -> Arc<dyn SpillStore> {
    Arc::new(Shield(store))
}

fn panicked(payload: &(dyn Any + Send)) -> StoreError {
    StoreError::Unavailable(format!("it panicked: {}", panic_text(payload)).into())
}

/// Runs a method of a store; a panic becomes [`StoreError::Unavailable`].
pub fn shielded<'a, T: Send + 'a>(step: impl FnOnce() -> StoreFuture<'a, T>) -> StoreFuture<'a, T> {
    match catch_unwind(AssertUnwindSafe(step)) {
        Ok(done) => Box::pin(async move {
            let done = AssertUnwindSafe(done).catch_unwind().await;
            done.unwrap_or_else(|payload| Err(panicked(&*payload)))
        }),
        Err(payload) => Box::pin(ready(Err(panicked(&*payload)))),
    }
}

#[cfg(feature = "host")]
impl ThreadStore for Shield<dyn ThreadStore> {
    fn journal(&self) -> Option<Journal> {
        catch_unwind(AssertUnwindSafe(|| self.0.journal())).unwrap_or_default()
    }

    fn append(&self, message: NewMessage) -> StoreFuture<'_, u64> {
        shielded(|| self.0.append(message))
    }

    fn read<'a>(
        &'a self,
        thread: &'a ThreadId,
        after: Option<u64>,
    ) -> StoreFuture<'a, Vec<Message>> {
        shielded(|| self.0.read(thread, after))
    }

    fn read_page<'a>(
        &'a self,
        thread: &'a ThreadId,
        after: u64,
        limit: u32,
    ) -> StoreFuture<'a, Vec<Message>> {
        shielded(|| self.0.read_page(thread, after, limit))
    }

    fn message_at<'a>(
        &'a self,
        thread: &'a ThreadId,
        role: Role,
        at: Timestamp,
    ) -> StoreFuture<'a, Option<u64>> {
        shielded(|| self.0.message_at(thread, role, at))
    }

    fn erase<'a>(&'a self, thread: &'a ThreadId) -> StoreFuture<'a, u64> {
        shielded(|| self.0.erase(thread))
    }
}

#[cfg(feature = "host")]
impl RunStore for Shield<dyn RunStore> {
    fn journal(&self) -> Option<Journal> {
        catch_unwind(AssertUnwindSafe(|| self.0.journal())).unwrap_or_default()
    }

    fn begin_run(&self, run: NewRun) -> StoreFuture<'_, RunBegun> {
        shielded(|| self.0.begin_run(run))
    }

    fn renew_run<'a>(
        &'a self,
        id: &'a RunId,
        owner: &'a str,
        until: Timestamp,
        progress: RunProgress,
    ) -> StoreFuture<'a, Option<RunRow>> {
        shielded(|| self.0.renew_run(id, owner, until, progress))
    }

    fn end_run<'a>(&'a self, id: &'a RunId, owner: &'a str, end: RunEnd) -> StoreFuture<'a, bool> {
        shielded(|| self.0.end_run(id, owner, end))
    }

    fn stop_run<'a>(&'a self, id: &'a RunId, stop: RunStop) -> StoreFuture<'a, Option<RunRow>> {
        shielded(|| self.0.stop_run(id, stop))
    }

    fn get_run<'a>(&'a self, id: &'a RunId) -> StoreFuture<'a, Option<RunRow>> {
        shielded(|| self.0.get_run(id))
    }

    fn list_runs<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a RunFilter,
    ) -> StoreFuture<'a, Vec<RunRow>> {
        shielded(|| self.0.list_runs(scope, filter))
    }

    fn retain_runs<'a>(&'a self, scope: Scope<'a>, since: Timestamp) -> StoreFuture<'a, u64> {
        shielded(|| self.0.retain_runs(scope, since))
    }
}

#[cfg(feature = "host")]
impl ChildStore for Shield<dyn ChildStore> {
    fn open_child(
        &self,
        row: ChildRow,
        most: Option<u32>,
        messages: Vec<NewMessage>,
    ) -> StoreFuture<'_, ChildOpened> {
        shielded(|| self.0.open_child(row, most, messages))
    }

    fn child<'a>(&'a self, thread: &'a ThreadId) -> StoreFuture<'a, Option<ChildRow>> {
        shielded(|| self.0.child(thread))
    }

    fn children<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a ChildFilter,
    ) -> StoreFuture<'a, Vec<ChildRow>> {
        shielded(|| self.0.children(scope, filter))
    }

    fn message_child(
        &self,
        message: NewMessage,
        sender: ChildSender,
    ) -> StoreFuture<'_, ChildMessage> {
        shielded(|| self.0.message_child(message, sender))
    }

    fn change_child<'a>(
        &'a self,
        thread: &'a ThreadId,
        change: ChildChange,
    ) -> StoreFuture<'a, Option<ChildRow>> {
        shielded(|| self.0.change_child(thread, change))
    }

    fn end_session<'a>(
        &'a self,
        thread: &'a ThreadId,
        end: EndedSession,
    ) -> StoreFuture<'a, SessionEnd> {
        shielded(|| self.0.end_session(thread, end))
    }

    fn remove_child<'a>(&'a self, thread: &'a ThreadId) -> StoreFuture<'a, bool> {
        shielded(|| self.0.remove_child(thread))
    }
}

#[cfg(feature = "host")]
impl BudgetStore for Shield<dyn BudgetStore> {
    fn reserve_budget(&self, new: NewReservation) -> StoreFuture<'_, Reserved> {
        shielded(|| self.0.reserve_budget(new))
    }

    fn settle_budget(&self, end: BudgetSettlement) -> StoreFuture<'_, Option<BudgetRow>> {
        shielded(|| self.0.settle_budget(end))
    }

    fn budget<'a>(&'a self, id: &'a BudgetId) -> StoreFuture<'a, Option<BudgetRow>> {
        shielded(|| self.0.budget(id))
    }

    fn list_budgets<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a BudgetFilter,
    ) -> StoreFuture<'a, Vec<BudgetRow>> {
        shielded(|| self.0.list_budgets(scope, filter))
    }

    fn remove_budget<'a>(&'a self, id: &'a BudgetId) -> StoreFuture<'a, bool> {
        shielded(|| self.0.remove_budget(id))
    }
}

#[cfg(feature = "host")]
impl LimitStore for Shield<dyn LimitStore> {
    fn take_limit(&self, take: LimitTake) -> StoreFuture<'_, LimitTaken> {
        shielded(|| self.0.take_limit(take))
    }

    fn extend_permit<'a>(
        &'a self,
        id: &'a LimitId,
        token: &'a str,
        lease: Duration,
        at: Timestamp,
    ) -> StoreFuture<'a, bool> {
        shielded(|| self.0.extend_permit(id, token, lease, at))
    }

    fn return_limit<'a>(
        &'a self,
        id: &'a LimitId,
        unit: &'a LimitUnit,
        at: Timestamp,
    ) -> StoreFuture<'a, bool> {
        shielded(|| self.0.return_limit(id, unit, at))
    }

    fn limit<'a>(&'a self, id: &'a LimitId) -> StoreFuture<'a, Option<LimitRow>> {
        shielded(|| self.0.limit(id))
    }
}

#[cfg(feature = "host")]
impl WorkStore for Shield<dyn WorkStore> {
    fn queue_work(
        &self,
        work: NewWork,
        message: Option<NewMessage>,
    ) -> StoreFuture<'_, (WorkRow, Option<u64>)> {
        shielded(|| self.0.queue_work(work, message))
    }

    fn wake_work<'a>(
        &'a self,
        thread: &'a ThreadId,
        delay: Duration,
        at: Timestamp,
    ) -> StoreFuture<'a, Option<WorkRow>> {
        shielded(|| self.0.wake_work(thread, delay, at))
    }

    fn claim_work(&self, claim: WorkClaim) -> StoreFuture<'_, ClaimedWork> {
        shielded(|| self.0.claim_work(claim))
    }

    fn claim_thread<'a>(
        &'a self,
        thread: &'a ThreadId,
        claim: WorkClaim,
    ) -> StoreFuture<'a, ClaimedWork> {
        shielded(|| self.0.claim_thread(thread, claim))
    }

    fn extend_work<'a>(
        &'a self,
        thread: &'a ThreadId,
        token: &'a str,
        lease: Duration,
        at: Timestamp,
    ) -> StoreFuture<'a, Option<WorkRow>> {
        shielded(|| self.0.extend_work(thread, token, lease, at))
    }

    fn release_work<'a>(
        &'a self,
        thread: &'a ThreadId,
        token: &'a str,
        outcome: WorkOutcome,
        at: Timestamp,
    ) -> StoreFuture<'a, Option<WorkRow>> {
        shielded(|| self.0.release_work(thread, token, outcome, at))
    }

    fn work_hint(&self, hint: u64) -> StoreFuture<'_, u64> {
        shielded(|| self.0.work_hint(hint))
    }

    fn work<'a>(&'a self, thread: &'a ThreadId) -> StoreFuture<'a, Option<WorkRow>> {
        shielded(|| self.0.work(thread))
    }

    fn list_work<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a WorkFilter,
    ) -> StoreFuture<'a, Vec<WorkRow>> {
        shielded(|| self.0.list_work(scope, filter))
    }

    fn remove_work<'a>(&'a self, thread: &'a ThreadId) -> StoreFuture<'a, bool> {
        shielded(|| self.0.remove_work(thread))
    }
}

#[cfg(feature = "host")]
impl ThreadEventStore for Shield<dyn ThreadEventStore> {
    fn append_events(&self, events: NewThreadEvents) -> StoreFuture<'_, u64> {
        shielded(|| self.0.append_events(events))
    }

    fn thread_events<'a>(
        &'a self,
        thread: &'a ThreadId,
        after: u64,
        limit: u32,
    ) -> StoreFuture<'a, Vec<ThreadEvent>> {
        shielded(|| self.0.thread_events(thread, after, limit))
    }

    fn erase_events<'a>(&'a self, thread: &'a ThreadId) -> StoreFuture<'a, u64> {
        shielded(|| self.0.erase_events(thread))
    }
}

impl SpillStore for Shield<dyn SpillStore> {
    fn put(&self, spill: Spill) -> StoreFuture<'_, ()> {
        shielded(|| self.0.put(spill))
    }

    fn read<'a>(
        &'a self,
        workspace: &'a Workspace,
        principal: &'a str,
        handle: &'a str,
        from: u64,
        most: u64,
        now: Timestamp,
    ) -> StoreFuture<'a, Option<SpillPart>> {
        shielded(|| self.0.read(workspace, principal, handle, from, most, now))
    }

    fn expire<'a>(&'a self, scope: Scope<'a>, now: Timestamp) -> StoreFuture<'a, u64> {
        shielded(|| self.0.expire(scope, now))
    }
}

#[cfg(all(test, feature = "host"))]
mod tests {
    use super::*;

    /// A store that only reads pages.
    struct Pages;

    impl ThreadStore for Pages {
        fn journal(&self) -> Option<Journal> {
            None
        }

        fn append(&self, _: NewMessage) -> StoreFuture<'_, u64> {
            unreachable!("the test only reads pages")
        }

        fn read<'a>(&'a self, _: &'a ThreadId, _: Option<u64>) -> StoreFuture<'a, Vec<Message>> {
            unreachable!("the test only reads pages")
        }

        fn read_page<'a>(
            &'a self,
            _: &'a ThreadId,
            _: u64,
            limit: u32,
        ) -> StoreFuture<'a, Vec<Message>> {
            assert_eq!(limit, 2, "unexpected limit");
            Box::pin(ready(Ok(Vec::new())))
        }

        fn message_at<'a>(
            &'a self,
            _: &'a ThreadId,
            _: Role,
            _: Timestamp,
        ) -> StoreFuture<'a, Option<u64>> {
            unreachable!("the test only reads pages")
        }

        fn erase<'a>(&'a self, _: &'a ThreadId) -> StoreFuture<'a, u64> {
            unreachable!("the test only reads pages")
        }
    }

    /// A store of child threads that panics in each method.
    struct Faulty;

    impl ChildStore for Faulty {
        fn open_child(
            &self,
            _: ChildRow,
            _: Option<u32>,
            _: Vec<NewMessage>,
        ) -> StoreFuture<'_, ChildOpened> {
            unreachable!("at once")
        }

        fn child<'a>(&'a self, _: &'a ThreadId) -> StoreFuture<'a, Option<ChildRow>> {
            Box::pin(async { unreachable!("later") })
        }

        fn children<'a>(
            &'a self,
            _: Scope<'a>,
            _: &'a ChildFilter,
        ) -> StoreFuture<'a, Vec<ChildRow>> {
            unreachable!("at once")
        }

        fn message_child(&self, _: NewMessage, _: ChildSender) -> StoreFuture<'_, ChildMessage> {
            unreachable!("at once")
        }

        fn change_child<'a>(
            &'a self,
            _: &'a ThreadId,
            _: ChildChange,
        ) -> StoreFuture<'a, Option<ChildRow>> {
            unreachable!("at once")
        }

        fn end_session<'a>(
            &'a self,
            _: &'a ThreadId,
            _: EndedSession,
        ) -> StoreFuture<'a, SessionEnd> {
            unreachable!("at once")
        }

        fn remove_child<'a>(&'a self, _: &'a ThreadId) -> StoreFuture<'a, bool> {
            unreachable!("at once")
        }
    }

    // A panic of a store of child threads becomes an error, whether it happens in the call or when the future is polled.
    #[tokio::test]
    async fn shield_converts_panics_of_a_store_of_children() {
        let store = children(Arc::new(Faulty));
        let thread = ThreadId::new("acme", "main").unwrap();
        let later = store.child(&thread).await.map(drop);
        let at_once = store.remove_child(&thread).await.map(drop);
        let filter = ChildFilter::default();
        let listed = store.children(Scope::All, &filter).await.map(drop);
        for (failed, words) in [(later, "later"), (at_once, "at once"), (listed, "at once")] {
            assert!(
                matches!(&failed, Err(StoreError::Unavailable(why)) if why.to_string().contains(words)),
                "{failed:?}"
            );
        }
    }

    // A shielded store reads a page with its own method, and does not read the whole thread. A panic of this method is an error.
    #[tokio::test]
    async fn shield_forwards_pages_of_threads() {
        let store = threads(Arc::new(Pages));
        let thread = ThreadId::new("acme", "main").unwrap();
        assert_eq!(store.read_page(&thread, 0, 2).await.unwrap(), []);
        let panicked = store.read_page(&thread, 0, 3).await;
        assert!(
            matches!(panicked, Err(StoreError::Unavailable(why)) if why.to_string().contains("unexpected limit"))
        );
    }
}
