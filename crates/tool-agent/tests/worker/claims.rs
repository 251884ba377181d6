//! Leases: extension, loss and return of a claim.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use tool_agent::agent::Agent;
use tool_agent::worker::{AgentQueue, Worker};
use tool_core::CancellationToken;
use tool_core::store::{
    ClaimedWork, MemoryStore, NewMessage, NewWork, Scope, StoreError, StoreFuture, ThreadId,
    Timestamp, WorkAgent, WorkCause, WorkClaim, WorkFilter, WorkOutcome, WorkRow, WorkState,
    WorkStore,
};

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

/// A store in which extensions of claims fail from a time that the test chooses. It counts the releases.
#[derive(Clone)]
struct Flaky {
    inner: MemoryStore,
    fails: Arc<AtomicBool>,
    hangs: bool,
    released: Arc<AtomicUsize>,
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
        self.released.fetch_add(1, Ordering::SeqCst);
        self.inner.release_work(thread, token, outcome, at)
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
            inner: host.store.clone(),
            fails: Arc::default(),
            hangs,
            released: Arc::default(),
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
    host.submit("bad").await;
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
    host.submit("good").await;
    let model = Replies::text("Yes.");
    let worker = host
        .worker(&model)
        .most_recoveries(2)
        .threads(1)
        .build()
        .unwrap();
    worker.run_until_idle().await;
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
