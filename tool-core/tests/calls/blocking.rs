//! Synchronous tools on a bounded blocking pool.

#![cfg(feature = "host")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]
#![allow(
    clippy::disallowed_methods,
    reason = "tests read the real clock and spawn their own tasks"
)]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::FutureExt as _;
use tool_core::prelude::*;
use tool_core::{BlockingPool, CancellationToken, Effect, ErrorKind};

/// Blocks each body until the test releases it.
#[derive(Clone)]
struct Blocker {
    begun: Sender<()>,
    go: Arc<Mutex<Receiver<()>>>,
    bodies: Arc<AtomicUsize>,
}
tool_core::host_value!(Blocker, Effect::READ);

/// The test's side of a [`Blocker`].
struct Controller {
    begun: Receiver<()>,
    go: Sender<()>,
    bodies: Arc<AtomicUsize>,
}

impl Controller {
    /// Waits until `bodies` more bodies have begun.
    fn begun(&self, bodies: usize) {
        for _ in 0..bodies {
            self.begun
                .recv_timeout(Duration::from_secs(30))
                .expect("a body begins");
        }
    }

    fn let_go(&self, bodies: usize) {
        for _ in 0..bodies {
            self.go.send(()).unwrap();
        }
    }
}

fn blocker() -> (Blocker, Controller) {
    let (begun, seen) = channel();
    let (go, gone) = channel();
    let bodies = Arc::default();
    let blocker = Blocker {
        begun,
        go: Arc::new(Mutex::new(gone)),
        bodies: Arc::clone(&bodies),
    };
    let controller = Controller {
        begun: seen,
        go,
        bodies,
    };
    (blocker, controller)
}

/// Waits until the test lets it continue.
#[tool(read_only)]
fn wait(blocker: &Blocker) -> u32 {
    blocker.bodies.fetch_add(1, Ordering::SeqCst);
    blocker.begun.send(()).unwrap();
    blocker.go.lock().unwrap().recv().unwrap();
    1
}

/// Panics, for the tests of this file.
#[tool]
fn fall() -> u32 {
    panic!("a panic in a blocking body")
}

fn tools() -> Toolset {
    Registry::builder()
        .tool::<wait>()
        .tool::<fall>()
        .build()
        .unwrap()
        .open()
}

fn call(name: &str) -> ToolCall {
    ToolCall::new("c1", name, "{}")
}

async fn until(what: impl Fn() -> bool) {
    while !what() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

// M13: the pool never runs more bodies at once than it has slots, and every call runs in the end.
#[tokio::test(flavor = "multi_thread")]
async fn running_bodies_never_exceed_the_slots() {
    let (blocker, controller) = blocker();
    let pool = BlockingPool::new(2);
    let cx = ToolContext::builder()
        .with(blocker)
        .with(pool.clone())
        .build();
    let calls: Vec<_> = (0..6)
        .map(|_| {
            let cx = cx.clone();
            tokio::spawn(async move { tools().call(call("wait"), &cx).await.is_error() })
        })
        .collect();
    controller.begun(2);
    for done in 0..4 {
        until(|| pool.waiting() == 4 - done).await;
        assert_eq!(pool.running(), 2);
        assert_eq!(controller.bodies.load(Ordering::SeqCst), 2 + done);
        controller.let_go(1);
        controller.begun(1);
    }
    controller.let_go(2);
    for call in calls {
        assert!(!call.await.unwrap());
    }
    until(|| pool.running() == 0).await;
}

// M13: a body that outlives its call keeps its slot until it ends.
#[tokio::test(flavor = "multi_thread")]
async fn abandoned_body_keeps_its_slot() {
    let (blocker, controller) = blocker();
    let pool = BlockingPool::new(1);
    let token = CancellationToken::new();
    let cx = ToolContext::builder()
        .with(blocker.clone())
        .with(pool.clone())
        .cancellation(token.clone())
        .build();
    let first = tokio::spawn(async move { tools().call(call("wait"), &cx).await });
    controller.begun(1);
    token.cancel();
    let first = first.await.unwrap();
    let error = first.error().unwrap();
    assert_eq!(error.kind(), ErrorKind::Cancelled);
    assert!(
        error
            .operator_text()
            .contains("continues in the background")
    );
    assert_eq!(pool.running(), 1);

    let cx = ToolContext::builder()
        .with(blocker)
        .with(pool.clone())
        .build();
    let tools = tools();
    let mut second = Box::pin(tools.call(call("wait"), &cx));
    assert!(second.as_mut().now_or_never().is_none());
    assert_eq!((pool.running(), pool.waiting()), (1, 1));
    controller.let_go(2);
    assert!(!second.await.is_error());
    until(|| pool.running() == 0).await;
}

/// Cancels a second call as soon as `waits` returns true, while the first call runs. The body of the second call must never begin, and the pool
/// must be empty afterwards.
async fn one_leaves(pool: &BlockingPool, waits: impl Fn() -> bool) {
    let (blocker, controller) = blocker();
    let cx = ToolContext::builder()
        .with(blocker.clone())
        .with(pool.clone())
        .build();
    let first = tokio::spawn(async move { tools().call(call("wait"), &cx).await.is_error() });
    controller.begun(1);

    let token = CancellationToken::new();
    let cx = ToolContext::builder()
        .with(blocker)
        .with(pool.clone())
        .cancellation(token.clone())
        .build();
    let second = tokio::spawn(async move { tools().call(call("wait"), &cx).await });
    until(waits).await;
    token.cancel();
    let second = second.await.unwrap();
    let error = second.error().unwrap();
    assert_eq!(error.kind(), ErrorKind::Cancelled);
    assert!(!error.operator_text().contains("background"));
    controller.let_go(1);
    assert!(!first.await.unwrap());
    until(|| pool.running() == 0).await;
    assert_eq!(controller.bodies.load(Ordering::SeqCst), 1);
}

// M13: a call that is cancelled while it waits for a slot never begins and leaves the queue.
#[tokio::test(flavor = "multi_thread")]
async fn call_cancelled_in_the_queue_never_starts() {
    let pool = BlockingPool::new(1);
    one_leaves(&pool, || pool.waiting() == 1).await;
}

// S0-23: a body that panics releases its slot.
#[tokio::test(flavor = "multi_thread")]
async fn a_panic_frees_the_slot() {
    let pool = BlockingPool::new(1);
    let cx = ToolContext::builder().with(pool.clone()).build();
    for _ in 0..3 {
        let result = tools().call(call("fall"), &cx).await;
        assert_eq!(result.error().unwrap().kind(), ErrorKind::Panicked);
    }
    assert_eq!(pool.running(), 0);
}

// M13: a call that is cancelled while it has a slot and waits for a thread never begins.
#[test]
fn call_cancelled_before_its_thread_starts_never_runs() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let pool = BlockingPool::new(2);
    runtime.block_on(one_leaves(&pool, || pool.running() == 2));
}
