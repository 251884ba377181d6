//! The queue of changes that wait for the writing connection, and the leader that runs them.
//!
//! Changes that wait at the same time share a transaction and form a group. One caller, the leader, polls the future of the group within
//! its own future: no task is spawned, so a single change costs no more than its statements, and the group does not stop when the runtime of
//! one caller shuts down. If the leader is dropped, another waiting caller becomes the leader. If no caller waits, the group is dropped, and the
//! transaction is rolled back.

use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use crate::store::StoreError;
use sqlx::sqlite::SqliteConnection;
use tokio::sync::oneshot;
use tokio::time::sleep;

use super::Fault;
use super::writer::{Inner, group};

/// The future of a change's statements on the writing connection.
pub(super) type Step<'c, T> = Pin<Box<dyn Future<Output = Result<T, Fault>> + Send + 'c>>;

/// The future that runs a group of changes. It has no output, because each caller receives its own result.
pub(super) type Group = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The priority of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Priority {
    /// The change runs in order of arrival.
    Ordinary,
    /// The change runs before all ordinary changes. It ends work or renews a lease, and in the order of arrival it could run only after the lease has
    /// expired.
    First,
}

/// How a change uses the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// The change runs in a transaction, which other changes may share.
    Shared,
    /// The change runs outside of a transaction, and alone on the connection.
    Alone,
}

/// Sends the result to the caller: success if its change is on disk, otherwise an error.
pub(super) type Answer = Box<dyn FnOnce(Result<(), StoreError>) + Send>;

/// A change that failed: its error, and the caller that waits for the result.
pub(super) struct Refused {
    pub(super) error: StoreError,
    pub(super) caller: Box<dyn FnOnce(StoreError) + Send>,
}

impl Refused {
    pub(super) fn tell(self) {
        (self.caller)(self.error);
    }

    /// Sends the error to the caller once the other changes of the transaction are on disk.
    pub(super) fn later(self) -> Answer {
        Box::new(|written| (self.caller)(written.err().unwrap_or(self.error)))
    }
}

/// A change that has not run yet.
pub(super) trait Job: Send {
    /// Runs the statements. Their result is sent to the caller after the commit.
    fn run(
        self: Box<Self>,
        db: &mut SqliteConnection,
    ) -> Pin<Box<dyn Future<Output = Result<Answer, Refused>> + Send + '_>>;

    fn refuse(self: Box<Self>, error: StoreError);
}

/// The statements of a change, and the caller that waits for their result.
struct Statements<T, F> {
    body: F,
    caller: oneshot::Sender<Result<T, StoreError>>,
}

impl<T, F> Job for Statements<T, F>
where
    T: Send + 'static,
    F: for<'c> FnOnce(&'c mut SqliteConnection) -> Step<'c, T> + Send,
{
    fn run(
        self: Box<Self>,
        db: &mut SqliteConnection,
    ) -> Pin<Box<dyn Future<Output = Result<Answer, Refused>> + Send + '_>> {
        let Self { body, caller } = *self;
        let step = body(db);
        // Sending fails if the caller was dropped. The result is not needed then.
        Box::pin(async move {
            match step.await {
                Ok(value) => Ok(Box::new(move |written: Result<(), StoreError>| {
                    let _ = caller.send(written.map(|()| value));
                }) as Answer),
                Err(Fault(error)) => Err(Refused {
                    error,
                    caller: Box::new(move |error| {
                        let _ = caller.send(Err(error));
                    }),
                }),
            }
        })
    }

    fn refuse(self: Box<Self>, error: StoreError) {
        let _ = self.caller.send(Err(error));
    }
}

/// A change in the queue, or in a group.
pub(super) struct QueuedChange {
    pub(super) scope: Scope,
    slot: Mutex<Slot>,
}

struct Slot {
    job: Option<Box<dyn Job>>,
    /// Whether a group has taken the change.
    is_picked: bool,
    /// Whether the caller was dropped or has withdrawn the change.
    is_gone: bool,
    /// The group that the caller must lead.
    group: Option<Group>,
    waker: Option<Waker>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl QueuedChange {
    fn slot(&self) -> MutexGuard<'_, Slot> {
        lock(&self.slot)
    }

    /// Takes the change into a group. Returns false if its caller was dropped.
    fn pick(&self) -> bool {
        let mut slot = self.slot();
        slot.is_picked = !slot.is_gone;
        slot.is_picked
    }

    /// Takes the job. Returns `None` if the caller was dropped; then nothing is written.
    pub(super) fn begin(&self) -> Option<Box<dyn Job>> {
        self.slot().job.take()
    }

    pub(super) fn refuse(&self, error: StoreError) {
        let job = self.slot().job.take();
        if let Some(job) = job {
            job.refuse(error);
        }
    }

    /// Makes the caller the leader of a group. Returns the group if the caller was dropped.
    fn lead(&self, group: Group) -> Result<(), Group> {
        let mut slot = self.slot();
        if slot.is_gone {
            return Err(group);
        }
        slot.group = Some(group);
        let waker = slot.waker.take();
        drop(slot);
        if let Some(waker) = waker {
            waker.wake();
        }
        Ok(())
    }

    /// Takes the group that the caller must lead. If there is none, stores the waker, which is woken when the caller becomes a leader.
    fn led(&self, waker: &Waker) -> Option<Group> {
        let mut slot = self.slot();
        let group = slot.group.take();
        if group.is_none() && !slot.waker.as_ref().is_some_and(|old| old.will_wake(waker)) {
            slot.waker = Some(waker.clone());
        }
        group
    }

    /// Withdraws the change if no group has taken it yet. Returns whether it is withdrawn.
    fn give_up(&self) -> bool {
        let mut slot = self.slot();
        slot.is_gone |= !slot.is_picked;
        slot.is_gone
    }
}

/// The changes that wait for the writing connection.
#[derive(Default)]
pub(super) struct Queue(Mutex<Waiting>);

impl Queue {
    #[cfg(test)]
    pub(super) fn has_members(&self) -> bool {
        !lock(&self.0).members.is_empty()
    }
}

#[derive(Default)]
struct Waiting {
    first: VecDeque<Arc<QueuedChange>>,
    ordinary: VecDeque<Arc<QueuedChange>>,
    /// Changes whose statements are in the running transaction.
    members: Vec<Arc<QueuedChange>>,
    /// Whether a group exists, so that new changes must wait.
    is_busy: bool,
}

impl Waiting {
    /// Removes and returns the next change, if `wanted` accepts it. Changes whose callers were dropped are skipped.
    fn next(&mut self, wanted: impl Fn(&QueuedChange) -> bool) -> Option<Arc<QueuedChange>> {
        loop {
            let line = if self.first.is_empty() {
                &mut self.ordinary
            } else {
                &mut self.first
            };
            if !line.front().is_some_and(|ticket| wanted(ticket)) {
                return None;
            }
            if let Some(ticket) = line.pop_front()
                && ticket.pick()
            {
                return Some(ticket);
            }
        }
    }
}

/// Permission to run changes. When it is dropped, it passes to the caller of the next waiting change.
pub(super) struct RunPermit(Arc<Inner>);

impl RunPermit {
    pub(super) fn inner(&self) -> &Arc<Inner> {
        &self.0
    }

    /// Removes and returns the next waiting change, if it may share a transaction.
    pub(super) fn join(&self) -> Option<Arc<QueuedChange>> {
        lock(&self.0.queue.0).next(|ticket| ticket.scope == Scope::Shared)
    }

    /// Records a change whose statements are in the transaction, so that its caller can take over if the leader is dropped.
    pub(super) fn admit(&self, ticket: Arc<QueuedChange>) {
        lock(&self.0.queue.0).members.push(ticket);
    }
}

impl Drop for RunPermit {
    fn drop(&mut self) {
        let (next, _members) = {
            let mut waiting = lock(&self.0.queue.0);
            let next = waiting.next(|_| true);
            waiting.is_busy = next.is_some();
            (next, std::mem::take(&mut waiting.members))
        };
        if let Some(ticket) = next {
            let group = group(Self(Arc::clone(&self.0)), Arc::clone(&ticket));
            if let Err(group) = ticket.lead(group) {
                pass(&self.0, group);
            }
        }
    }
}

/// Makes a waiting caller the leader of a group. Drops the group if no caller waits.
fn pass(inner: &Inner, mut group: Group) {
    loop {
        let next = {
            let waiting = lock(&inner.queue.0);
            let lines = waiting.members.iter();
            let mut lines = lines.chain(&waiting.first).chain(&waiting.ordinary);
            lines.find(|ticket| !ticket.slot().is_gone).cloned()
        };
        let Some(next) = next else {
            return;
        };
        match next.lead(group) {
            Ok(()) => return,
            Err(back) => group = back,
        }
    }
}

/// A caller that waits for its change. If it is dropped before the change has begun, nothing is written.
struct Caller {
    inner: Arc<Inner>,
    ticket: Arc<QueuedChange>,
    /// The group that this caller leads.
    group: Option<Group>,
}

impl Caller {
    fn new(inner: &Arc<Inner>, turn: Priority, scope: Scope, job: Box<dyn Job>) -> Self {
        let slot = Slot {
            job: Some(job),
            is_picked: false,
            is_gone: false,
            group: None,
            waker: None,
        };
        let ticket = Arc::new(QueuedChange {
            scope,
            slot: Mutex::new(slot),
        });
        let mut waiting = lock(&inner.queue.0);
        let is_busy = std::mem::replace(&mut waiting.is_busy, true);
        if is_busy {
            let line = match turn {
                Priority::First => &mut waiting.first,
                Priority::Ordinary => &mut waiting.ordinary,
            };
            line.push_back(Arc::clone(&ticket));
        }
        drop(waiting);
        let group = (!is_busy && ticket.pick())
            .then(|| group(RunPermit(Arc::clone(inner)), Arc::clone(&ticket)));
        Self {
            inner: Arc::clone(inner),
            ticket,
            group,
        }
    }

    /// Polls the group that the caller leads, if any.
    fn lead(&mut self, cx: &mut Context<'_>) {
        // The end of a group may make the caller the leader of the next group.
        while let Some(mut group) = self.group.take().or_else(|| self.ticket.led(cx.waker())) {
            // The group is not in `self` while it is polled, so a panic drops it, and its other callers receive an error.
            if group.as_mut().poll(cx).is_pending() {
                self.group = Some(group);
                return;
            }
        }
    }
}

impl Drop for Caller {
    fn drop(&mut self) {
        let mut slot = self.ticket.slot();
        slot.is_gone = true;
        let (job, group) = (slot.job.take(), slot.group.take());
        drop(slot);
        drop(job);
        if let Some(group) = self.group.take().or(group) {
            pass(&self.inner, group);
        }
    }
}

/// Queues a change, and returns when it is on disk.
pub(super) async fn wait<T: Send + 'static>(
    inner: &Arc<Inner>,
    turn: Priority,
    scope: Scope,
    body: impl for<'c> FnOnce(&'c mut SqliteConnection) -> Step<'c, T> + Send + 'static,
) -> Result<T, Fault> {
    let (sender, mut answer) = oneshot::channel();
    let job = Box::new(Statements {
        body,
        caller: sender,
    });
    let mut caller = Caller::new(inner, turn, scope, job);
    let mut timer = caller
        .group
        .is_none()
        .then(|| Box::pin(sleep(inner.patience)));
    let answer = poll_fn(|cx| {
        caller.lead(cx);
        if let Poll::Ready(answer) = Pin::new(&mut answer).poll(cx) {
            return Poll::Ready(answer.unwrap_or_else(|_| Err(lost())));
        }
        if let Some(waits) = &mut timer
            && waits.as_mut().poll(cx).is_ready()
        {
            if caller.ticket.give_up() {
                return Poll::Ready(Err(too_many(inner.patience)));
            }
            timer = None;
        }
        Poll::Pending
    });
    Ok(answer.await?)
}

/// Returns the error of the other changes of a group that was dropped because one of its changes panicked.
fn lost() -> StoreError {
    let text = "the transaction was rolled back because another change in it panicked";
    StoreError::Unavailable(text.into())
}

fn too_many(patience: Duration) -> StoreError {
    let text = format!(
        "the change waited {} s for its turn to write, send fewer calls at once",
        patience.as_secs()
    );
    StoreError::Unavailable(text.into())
}
