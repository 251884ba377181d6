//! Leases: extension, loss and return of a claim.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Duration;

use tokio::sync::Semaphore;
use tool_agent::agent::Agent;
use tool_agent::worker::{AgentQueue, Worker};
use tool_core::CancellationToken;
use tool_core::store::{
    ClaimedWork, MemoryStore, NewMessage, NewWork, Scope, StoreError, StoreFuture, ThreadId,
    Timestamp, WorkAgent, WorkCause, WorkClaim, WorkFilter, WorkOutcome, WorkRow, WorkState,
    WorkStore,
};
use tool_core::turn::ModelMessage;

use crate::support::{Blocker, Host, LEASE, Replies, cx};

/// Takes over the claim of a conversation, as another worker does after the end of the lease.
async fn take_over(host: &Host) -> WorkRow {
    let claim = WorkClaim {
        agents: vec![WorkAgent::new("chief", "1")],
        worker: "other".to_owned(),
        lease: Duration::from_mins(1),
        limit: 1,
        suspects: 1,
        most_recoveries: 9,
        at: Timestamp::now().plus(LEASE * 2),
    };
    let mut done = host.store.claim_work(claim).await.unwrap();
    done.claimed.remove(0)
}

// A worker extends its lease during a long request, so that no other worker claims the thread.
#[tokio::test]
async fn lease_is_extended_during_a_drive() {
    let host = Host::new();
    let blocker = Blocker::default();
    let worker = host
        .worker(&blocker.model("Yes."))
        .name("one")
        .build()
        .unwrap();
    host.submit("main").await;
    let running = tokio::spawn(async move { worker.run_until_idle().await });
    blocker.began.notified().await;
    let other = Replies::text("No.");
    let second = host.worker(&other).build().unwrap();
    for _ in 0..8 {
        tokio::time::sleep(LEASE / 3).await;
        second.run_until_idle().await;
    }
    let row = host.row("main").await;
    assert_eq!(
        (row.state, row.worker.as_deref()),
        (WorkState::Claimed, Some("one"))
    );
    blocker.go.notify_one();
    running.await.unwrap();
    assert_eq!(
        (host.row("main").await.recoveries, other.requests()),
        (0, 0)
    );
    assert_eq!(host.counts("main").await, [1, 1, 0]);
}

// A worker whose claim was taken over drops its drive, stores nothing, and does not change the row of the new claim.
#[tokio::test]
async fn lost_claim_ends_the_drive() {
    let host = Host::new();
    let blocker = Blocker::default();
    let worker = host.worker(&blocker.model("Late.")).build().unwrap();
    host.submit("main").await;
    let running = tokio::spawn(async move { worker.run_until_idle().await });
    blocker.began.notified().await;
    let taken = take_over(&host).await;
    // The next extension fails, so the task ends.
    let ended = tokio::time::timeout(LEASE * 10, running).await;
    ended.unwrap().unwrap();
    assert_eq!(blocker.dropped(), 1);
    blocker.go.notify_one();
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(host.row("main").await, taken);
    assert_eq!(host.counts("main").await, [1, 0, 0]);
}

// A process that was suspended for longer than its lease stores nothing, even if it has not noticed the loss of its claim in another way.
#[tokio::test]
async fn drive_does_not_continue_after_a_suspension() {
    let host = Host::new();
    let model = Replies::new(|_| async {
        // The process is suspended. No timer of the process has run when the drive continues.
        std::thread::sleep(LEASE * 2);
        let mut continues = false;
        std::future::poll_fn(|cx| {
            if std::mem::replace(&mut continues, true) {
                return Poll::Ready(());
            }
            cx.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
        Ok(ModelMessage::text("Late."))
    });
    host.submit("main").await;
    host.worker(&model).build().unwrap().run_until_idle().await;
    assert_eq!(host.counts("main").await[1], 0);
}

/// A store in which extensions of claims fail from a time that the test chooses. It counts the releases.
#[derive(Clone)]
pub(crate) struct Flaky {
    pub(crate) inner: MemoryStore,
    pub(crate) fails: Arc<AtomicBool>,
    pub(crate) hangs: bool,
    pub(crate) released: Arc<AtomicUsize>,
    /// The number of releases that fail.
    pub(crate) unreleased: usize,
    /// If this is set, each release waits for a permit.
    pub(crate) permits: Option<Arc<Semaphore>>,
}

impl Flaky {
    /// Creates a queue in which nothing fails.
    pub(crate) fn new(host: &Host) -> Self {
        Self {
            inner: host.store.clone(),
            fails: Arc::default(),
            hangs: false,
            released: Arc::default(),
            unreleased: 0,
            permits: None,
        }
    }
}

impl WorkStore for Flaky {
    fn queue_work(
        &self,
        work: NewWork,
        message: Option<NewMessage>,
    ) -> StoreFuture<'_, (WorkRow, Option<u64>)> {
        self.inner.queue_work(work, message)
    }

    fn wake_work<'a>(
        &'a self,
        thread: &'a ThreadId,
        delay: Duration,
        at: Timestamp,
    ) -> StoreFuture<'a, Option<WorkRow>> {
        self.inner.wake_work(thread, delay, at)
    }

    fn claim_work(&self, claim: WorkClaim) -> StoreFuture<'_, ClaimedWork> {
        self.inner.claim_work(claim)
    }

    fn claim_thread<'a>(
        &'a self,
        thread: &'a ThreadId,
        claim: WorkClaim,
    ) -> StoreFuture<'a, ClaimedWork> {
        self.inner.claim_thread(thread, claim)
    }

    fn extend_work<'a>(
        &'a self,
        thread: &'a ThreadId,
        token: &'a str,
        lease: Duration,
        at: Timestamp,
    ) -> StoreFuture<'a, Option<WorkRow>> {
        if !self.fails.load(Ordering::SeqCst) {
            return self.inner.extend_work(thread, token, lease, at);
        }
        if self.hangs {
            return Box::pin(std::future::pending());
        }
        Box::pin(async { Err(StoreError::Unavailable("the network is down".into())) })
    }

    fn release_work<'a>(
        &'a self,
        thread: &'a ThreadId,
        token: &'a str,
        outcome: WorkOutcome,
        at: Timestamp,
    ) -> StoreFuture<'a, Option<WorkRow>> {
        let earlier = self.released.fetch_add(1, Ordering::SeqCst);
        Box::pin(async move {
            if earlier < self.unreleased {
                return Err(StoreError::Unavailable("the network is down".into()));
            }
            if let Some(permits) = &self.permits {
                permits.acquire().await.unwrap().forget();
            }
            self.inner.release_work(thread, token, outcome, at).await
        })
    }

    fn work<'a>(&'a self, thread: &'a ThreadId) -> StoreFuture<'a, Option<WorkRow>> {
        self.inner.work(thread)
    }

    fn list_work<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a WorkFilter,
    ) -> StoreFuture<'a, Vec<WorkRow>> {
        self.inner.list_work(scope, filter)
    }

    fn remove_work<'a>(&'a self, thread: &'a ThreadId) -> StoreFuture<'a, bool> {
        self.inner.remove_work(thread)
    }
}

// An error of an extension counts as the loss of the claim, and so does an extension without an answer. Another worker continues when the lease has
// expired.
#[tokio::test]
async fn failed_extension_counts_as_a_lost_claim() {
    let lease = LEASE * 5;
    for hangs in [false, true] {
        let host = Host::new();
        let flaky = Flaky {
            hangs,
            ..Flaky::new(&host)
        };
        let queue = AgentQueue::new(flaky.clone()).agent("chief", "1");
        let blocker = Blocker::default();
        let chief = Agent::builder("chief", blocker.model("Late."));
        let worker = Worker::builder(&host.runtime(chief), &queue)
            .lease(lease)
            .poll(LEASE * 9);
        let worker = worker.build().unwrap();
        host.submit("main").await;
        let stop = CancellationToken::new();
        let running = {
            let stop = stop.clone();
            tokio::spawn(async move { worker.run(stop).await })
        };
        blocker.began.notified().await;
        flaky.fails.store(true, Ordering::SeqCst);
        let failing = std::time::Instant::now();
        tokio::time::timeout(lease * 2, async {
            while blocker.dropped() == 0 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        })
        .await
        .unwrap();
        // The first extension that fails ends the drive, long before the lease expires.
        assert!(hangs || failing.elapsed() < lease / 2);
        stop.cancel();
        running.await.unwrap();
        assert_eq!(flaky.released.load(Ordering::SeqCst), 0);
        assert_eq!(host.counts("main").await, [1, 0, 0]);
        let row = host.row("main").await;
        assert_eq!(row.state, WorkState::Claimed);

        tokio::time::sleep(lease).await;
        let model = Replies::text("Yes.");
        host.worker(&model).build().unwrap().run_until_idle().await;
        assert_eq!(host.row("main").await.cause, Some(WorkCause::Done));
        assert_eq!(host.counts("main").await, [1, 1, 0]);
    }
}

// A release that fails because the store is unavailable is attempted once more, so that the thread does not wait for the end of the lease.
#[tokio::test]
async fn failed_release_is_attempted_again() {
    let host = Host::new();
    let flaky = Flaky {
        unreleased: 1,
        ..Flaky::new(&host)
    };
    let queue = AgentQueue::new(flaky.clone()).agent("chief", "1");
    let chief = Agent::builder("chief", Replies::text("Yes."));
    let worker = Worker::builder(&host.runtime(chief), &queue);
    host.submit("main").await;
    worker.build().unwrap().run_until_idle().await;
    assert_eq!(host.row("main").await.cause, Some(WorkCause::Done));
    assert_eq!(flaky.released.load(Ordering::SeqCst), 2);
}

// A worker that is stopped lets its drives end within the grace period, and then releases its threads, so that another worker can claim them at once.
#[tokio::test]
async fn stopped_worker_hands_its_threads_back() {
    let host = Host::new();
    for (grace, ends) in [(Duration::from_secs(9), true), (Duration::ZERO, false)] {
        let blocker = Blocker::default();
        let worker = host
            .worker(&blocker.model("Yes."))
            .grace(grace)
            .build()
            .unwrap();
        host.submit("main").await;
        let before = host.counts("main").await[1];
        let stop = CancellationToken::new();
        let running = {
            let stop = stop.clone();
            tokio::spawn(async move { worker.run(stop).await })
        };
        blocker.began.notified().await;
        stop.cancel();
        tokio::time::sleep(Duration::from_millis(20)).await;
        if ends {
            assert!(!running.is_finished());
            blocker.go.notify_one();
        }
        running.await.unwrap();
        let row = host.row("main").await;
        let expected = if ends {
            WorkState::Ended
        } else {
            WorkState::Queued
        };
        assert_eq!(
            (row.state, row.recoveries, blocker.dropped()),
            (expected, 0, usize::from(!ends))
        );
        assert_eq!(host.counts("main").await[1], before + usize::from(ends));
    }
    let model = Replies::text("Yes.");
    let worker = host.worker(&model).build().unwrap();
    let running = tokio::spawn(async move { worker.run(CancellationToken::new()).await });
    let row = host
        .until("main", |row| row.state == WorkState::Ended)
        .await;
    assert_eq!((row.cause, row.recoveries), (Some(WorkCause::Done), 0));

    // A worker whose future is dropped releases its threads, too.
    running.abort();
    let blocker = Blocker::default();
    let worker = host.worker(&blocker.model("Yes.")).build().unwrap();
    host.submit("dropped").await;
    let running = tokio::spawn(async move { worker.run(CancellationToken::new()).await });
    blocker.began.notified().await;
    running.abort();
    let row = host
        .until("dropped", |row| row.state == WorkState::Queued)
        .await;
    assert_eq!((row.token, row.recoveries), (None, 0));
}

// A thread whose lease expires too often ends, and the worker continues with other threads.
#[tokio::test]
async fn thread_ends_at_the_crash_limit() {
    let host = Host::new();
    // The messages arrive in another process, so the queue of the worker does not wake it.
    let other = AgentQueue::new(host.store.clone()).agent("chief", "1");
    other.submit("chief", "Go.", &cx("bad")).await.unwrap();
    for _ in 0..3 {
        let claim = WorkClaim {
            agents: vec![WorkAgent::new("chief", "1")],
            worker: "dead".to_owned(),
            lease: Duration::ZERO,
            limit: 1,
            suspects: 1,
            most_recoveries: 2,
            at: Timestamp::now(),
        };
        assert_eq!(host.store.claim_work(claim).await.unwrap().claimed.len(), 1);
    }
    other.submit("chief", "Go.", &cx("good")).await.unwrap();
    let model = Replies::text("Yes.");
    let worker = host
        .worker(&model)
        .most_recoveries(2)
        .threads(1)
        // After the thread that has ended, the worker looks for the next one at once.
        .poll(Duration::from_hours(1))
        .build()
        .unwrap();
    let ended = tokio::time::timeout(Duration::from_secs(9), worker.run_until_idle());
    assert!(ended.await.is_ok());
    let bad = host.row("bad").await;
    assert_eq!(
        (bad.state, bad.cause),
        (WorkState::Ended, Some(WorkCause::CrashLimit))
    );
    assert_eq!(host.row("good").await.cause, Some(WorkCause::Done));
    assert_eq!(host.counts("bad").await, [1, 0, 0]);
    // A new message begins a new attempt.
    host.queue
        .submit("chief", "Again.", &cx("bad"))
        .await
        .unwrap();
    worker.run_until_idle().await;
    assert_eq!(host.row("bad").await.cause, Some(WorkCause::Done));
}

// From its second recovery, a thread may have crashed its processes, so a worker drives one such thread at a time.
#[tokio::test]
async fn threads_that_may_crash_the_process_are_driven_one_by_one() {
    let host = Host::new();
    for conversation in ["a", "b"] {
        host.submit(conversation).await;
    }
    for _ in 0..2 {
        let claim = WorkClaim {
            agents: vec![WorkAgent::new("chief", "1")],
            worker: "dead".to_owned(),
            lease: Duration::ZERO,
            limit: 2,
            suspects: 2,
            most_recoveries: 9,
            at: Timestamp::now(),
        };
        assert_eq!(host.store.claim_work(claim).await.unwrap().claimed.len(), 2);
    }
    let blocker = Blocker::default();
    let model = blocker.model("Yes.");
    let worker = host.worker(&model).most_recoveries(9).build().unwrap();
    let running = tokio::spawn(async move { worker.run_until_idle().await });
    for requests in [1, 2] {
        blocker.began.notified().await;
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert_eq!(model.requests(), requests);
        blocker.go.notify_one();
    }
    running.await.unwrap();
    for conversation in ["a", "b"] {
        let row = host.row(conversation).await;
        assert_eq!((row.cause, row.recoveries), (Some(WorkCause::Done), 0));
    }
}
