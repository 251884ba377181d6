//! Best-effort audit with a sink that is slower than the calls.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::join_all;
use tokio::time::Instant;
use tool_core::prelude::*;
use tool_core::store::{
    AuditFilter, AuditRow, AuditSink, Scope, StoreError, StoreFuture, Timestamp, Workspace,
};
use tool_core::{Audit, Gate};

use crate::support::count;

/// The behaviour of a sink when rows are written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WriteMode {
    /// Each write takes 50 ms.
    Slowly,
    /// The first write fails, and later writes are slow.
    OnceNot,
    /// No write ever ends.
    Never,
}

#[derive(Clone)]
struct Sink {
    way: WriteMode,
    failed: Arc<AtomicBool>,
    calls: Arc<Mutex<Vec<String>>>,
    writes: Arc<AtomicUsize>,
}

impl Sink {
    fn new(way: WriteMode) -> Self {
        Self {
            way,
            failed: Arc::default(),
            calls: Arc::default(),
            writes: Arc::default(),
        }
    }

    fn calls(&self) -> Vec<String> {
        self.calls.lock().unwrap().clone()
    }
}

impl AuditSink for Sink {
    fn write(&self, rows: Vec<AuditRow>) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            if self.way == WriteMode::Never {
                return std::future::pending().await;
            }
            // Outside of a runtime, tokio has no timer.
            if tokio::runtime::Handle::try_current().is_ok() {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            if self.way == WriteMode::OnceNot && !self.failed.swap(true, Ordering::SeqCst) {
                return Err(StoreError::Unavailable("busy".into()));
            }
            self.writes.fetch_add(1, Ordering::SeqCst);
            let mut calls = self.calls.lock().unwrap();
            calls.extend(rows.into_iter().map(|row| row.call));
            Ok(())
        })
    }
    fn export<'a>(&'a self, _: Scope<'a>, _: &'a AuditFilter) -> StoreFuture<'a, Vec<AuditRow>> {
        Box::pin(async { Ok(Vec::new()) })
    }
    fn erase<'a>(&'a self, _: &'a Workspace, _: &'a str) -> StoreFuture<'a, u64> {
        Box::pin(async { Ok(0) })
    }
    fn retain<'a>(&'a self, _: Scope<'a>, _: Timestamp) -> StoreFuture<'a, u64> {
        Box::pin(async { Ok(0) })
    }
}

struct Host {
    sink: Sink,
    gate: Gate,
    tools: Toolset,
}

impl Host {
    fn new(way: WriteMode) -> Self {
        let sink = Sink::new(way);
        let gate = Gate::builder()
            .audit(Audit::best_effort(sink.clone()))
            .build();
        let tools = toolset![count].through(&gate);
        Self { sink, gate, tools }
    }

    async fn call(&self, id: impl Into<String>, cx: &ToolContext) -> tool_core::CallResult {
        let call = ToolCall::new(id, "count", r#"{"from":7}"#);
        self.tools.call(call, cx).await
    }

    /// Returns the number of waiting rows and the number of dropped rows.
    fn counts(&self) -> (usize, u64) {
        let buffer = self.gate.audit().buffer().unwrap();
        (buffer.waiting(), buffer.dropped())
    }
}

fn distinct(calls: &[String]) -> usize {
    calls.iter().collect::<BTreeSet<_>>().len()
}

// S1-26: a sink that is slower than a tight loop of calls loses no row
#[tokio::test(start_paused = true)]
async fn slow_sink_receives_every_row() {
    let host = Host::new(WriteMode::Slowly);
    let cx = ToolContext::anonymous();
    for n in 0..5_000 {
        let result = host.call(n.to_string(), &cx).await;
        assert_eq!(result.model_text(), "7");
        let (waiting, dropped) = host.counts();
        assert!(waiting <= 500 && dropped == 0, "{waiting} {dropped}");
    }
    host.gate.drain(Duration::from_secs(10)).await;
    let calls = host.sink.calls();
    assert_eq!((calls.len(), distinct(&calls)), (5_000, 5_000));
    // Waiting rows are written together.
    assert!(host.sink.writes.load(Ordering::SeqCst) <= 5_000 / 250);
}

// S1-26: while the sink of one host hangs, the callers of another host lose no row, and the callers of the first host wait less than six seconds
#[tokio::test(start_paused = true)]
async fn callers_wait_for_their_own_sink_only() {
    let (slow, stuck) = (Host::new(WriteMode::Slowly), Host::new(WriteMode::Never));
    let cx = ToolContext::anonymous();
    let callers = |host: &'static str, of: &Host, rounds: usize| {
        let (of, cx) = (
            Host {
                sink: of.sink.clone(),
                gate: of.gate.clone(),
                tools: of.tools.clone(),
            },
            cx.clone(),
        );
        async move {
            let of = &of;
            let cx = &cx;
            join_all((0..600).map(async |caller| {
                for round in 0..rounds {
                    let result = of.call(format!("{host} {caller} {round}"), cx).await;
                    assert_eq!(result.model_text(), "7");
                }
            }))
            .await;
        }
    };
    let began = Instant::now();
    futures::join!(callers("slow", &slow, 6), async {
        callers("stuck", &stuck, 6).await;
        // The first calls wait for five seconds, after which the sink counts as failing; later calls do not wait.
        assert!(began.elapsed() < Duration::from_secs(6));
    });
    slow.gate.drain(Duration::from_secs(10)).await;
    let calls = slow.sink.calls();
    assert_eq!((calls.len(), distinct(&calls)), (3_600, 3_600));
    assert_eq!(slow.counts(), (0, 0));
    let (waiting, dropped) = stuck.counts();
    assert!(waiting <= 1_200, "{waiting}");
    assert!(dropped >= 3_600 - 2 * 1_200, "{dropped}");
}

// One failed write loses no row: waiting rows stay in the queue and are written with the next write
#[tokio::test(start_paused = true)]
async fn failed_audit_write_loses_no_row() {
    let host = Host::new(WriteMode::OnceNot);
    let cx = ToolContext::anonymous();
    join_all((0..900).map(|n| host.call(n.to_string(), &cx))).await;
    tokio::time::sleep(Duration::from_secs(11)).await;
    assert_eq!(host.counts(), (0, 0));
    let calls = host.sink.calls();
    assert_eq!((calls.len(), distinct(&calls)), (900, 900));
}

// While the sink hangs, a call waits for at most five seconds and then runs, unless its deadline passes or its caller drops it first
#[tokio::test(start_paused = true)]
async fn call_waits_for_the_sink_until_its_deadline_or_for_five_seconds() {
    let host = Host::new(WriteMode::Never);
    let cx = ToolContext::anonymous();
    for n in 0..500 {
        host.call(n.to_string(), &cx).await;
    }
    let began = Instant::now();
    let soon = ToolContext::builder()
        .deadline(Duration::from_secs(1))
        .build();
    let result = host.call("late", &soon).await;
    assert!(result.is_error(), "{result:?}");
    assert_eq!(began.elapsed(), Duration::from_secs(1));
    let dropped = tokio::time::timeout(Duration::from_secs(1), host.call("dropped", &cx)).await;
    assert!(dropped.is_err());
    // This call runs after it has waited for five seconds.
    let result = host.call("in vain", &cx).await;
    assert_eq!(result.model_text(), "7");
    assert_eq!(began.elapsed(), Duration::from_secs(7));
    host.call("at once", &cx).await;
    assert_eq!(began.elapsed(), Duration::from_secs(7));
}

// Without a runtime, calls write their rows themselves
#[test]
fn calls_write_waiting_rows_without_a_runtime() {
    let host = Host::new(WriteMode::Slowly);
    let cx = ToolContext::anonymous();
    let calls = async {
        for n in 0..1_200 {
            host.call(n.to_string(), &cx).await;
        }
        assert_eq!(host.counts().1, 0);
        assert_eq!(host.sink.calls().len(), 1_000);
        host.gate.audit().buffer().unwrap().flush().await.unwrap();
    };
    calls.now_or_never().expect("nothing waits");
    assert_eq!(distinct(&host.sink.calls()), 1_200);
}

// Rows are written although the runtime of the first row is no longer driven
#[test]
fn rows_are_written_while_the_first_runtime_is_not_driven() {
    let runtime = || {
        tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap()
    };
    let (first, second) = (runtime(), runtime());
    let host = Host::new(WriteMode::Slowly);
    let cx = ToolContext::anonymous();
    first.block_on(host.call("first", &cx));
    second.block_on(async {
        let began = Instant::now();
        for n in 0..3_000 {
            host.call(n.to_string(), &cx).await;
        }
        assert_eq!(host.counts().1, 0);
        // Only one call has waited for the task of the first runtime.
        assert!(began.elapsed() < Duration::from_secs(10));
        host.gate.drain(Duration::from_secs(10)).await;
    });
    assert_eq!(distinct(&host.sink.calls()), 3_001);
    drop(first);
}
