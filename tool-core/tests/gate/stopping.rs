//! Draining a gate, and the background work of its sweeper.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tool_core::prelude::*;
use tool_core::store::{
    AuditFilter, AuditRow, AuditSink, CallId, EffectLedger, EffectState, Erased, Erasure, Intent,
    Maintenance, MemoryStore, Purged, Resolution, Retention, Scope, StoreError, StoreFuture,
    ThreadId, Timestamp, Workspace,
};
use tool_core::{Audit, ErrorKind, Gate, Sweeper};

use crate::support::{Mailbox, kind, placed};

/// Waits for a time, within its own deadline.
#[tool(read_only, timeout = "200ms")]
async fn wait(
    /// The time to wait, in milliseconds.
    millis: u64,
) -> u64 {
    tokio::time::sleep(Duration::from_millis(millis)).await;
    millis
}

/// Sends a letter.
#[tool(timeout = "200ms")]
async fn post(
    mailbox: &Mailbox,
    /// The recipient of the letter.
    to: String,
) -> String {
    mailbox.send();
    to
}

/// An audit sink whose writes hang after the first `from` writes.
#[derive(Clone)]
struct Hangs {
    store: MemoryStore,
    from: usize,
    writes: Arc<AtomicUsize>,
}

impl Hangs {
    fn from(from: usize) -> Self {
        Self {
            store: MemoryStore::default(),
            from,
            writes: Arc::default(),
        }
    }
}

impl AuditSink for Hangs {
    fn write(&self, rows: Vec<AuditRow>) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            if self.writes.fetch_add(1, Ordering::SeqCst) >= self.from {
                std::future::pending::<()>().await;
            }
            self.store.write(rows).await
        })
    }
    fn export<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a AuditFilter,
    ) -> StoreFuture<'a, Vec<AuditRow>> {
        self.store.export(scope, filter)
    }
    fn erase<'a>(&'a self, workspace: &'a Workspace, principal: &'a str) -> StoreFuture<'a, u64> {
        self.store.erase(workspace, principal)
    }
    fn retain<'a>(&'a self, scope: Scope<'a>, since: Timestamp) -> StoreFuture<'a, u64> {
        self.store.retain(scope, since)
    }
}

fn cx(mailbox: &Mailbox) -> ToolContext {
    ToolContext::builder()
        .workspace("acme")
        .user("ann")
        .with(mailbox.clone())
        .build()
}

fn wait_for(millis: u64) -> ToolCall {
    ToolCall::new("c", "wait", format!(r#"{{"millis":{millis}}}"#))
}

// `drain` returns at most one second after `patience` even if the sink of a best-effort or required audit hangs.
#[tokio::test]
async fn drain_ends_in_time_while_a_sink_hangs() {
    for audit in [
        Audit::best_effort(Hangs::from(0)),
        Audit::required(Hangs::from(0)),
    ] {
        let what = format!("{audit:?}");
        let gate = Gate::builder().audit(audit).build();
        let tools = toolset![wait].through(&gate);
        let running = tokio::spawn(async move {
            for _ in 0..20 {
                tools.call(wait_for(1), &cx(&Mailbox::default())).await;
            }
        });
        tokio::time::sleep(Duration::from_millis(50)).await;
        let since = Instant::now();
        gate.drain(Duration::from_millis(300)).await;
        assert!(
            since.elapsed() < Duration::from_millis(1_500),
            "{what}: {:?}",
            since.elapsed()
        );
        running.abort();
    }
}

/// A sink that takes three seconds to write a row with an outcome.
#[derive(Clone, Default)]
struct SlowSink(MemoryStore);

impl AuditSink for SlowSink {
    fn write(&self, rows: Vec<AuditRow>) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            if rows.iter().any(|row| row.outcome.is_some()) {
                tokio::time::sleep(Duration::from_secs(3)).await;
            }
            self.0.write(rows).await
        })
    }
    fn export<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a AuditFilter,
    ) -> StoreFuture<'a, Vec<AuditRow>> {
        self.0.export(scope, filter)
    }
    fn erase<'a>(&'a self, workspace: &'a Workspace, principal: &'a str) -> StoreFuture<'a, u64> {
        self.0.erase(workspace, principal)
    }
    fn retain<'a>(&'a self, scope: Scope<'a>, since: Timestamp) -> StoreFuture<'a, u64> {
        self.0.retain(scope, since)
    }
}

// `drain` waits for rows that are written in the background: of a call whose deadline passes during the write, of a call
// that was dropped, and of a call that was refused.
#[tokio::test(start_paused = true)]
async fn drain_waits_for_rows_written_in_the_background() {
    for what in ["late", "dropped", "refused"] {
        let sink = SlowSink::default();
        let gate = Gate::builder().audit(Audit::required(sink.clone())).build();
        let tools = toolset![wait].through(&gate);
        let cx = ToolContext::builder();
        let cx = match what {
            "refused" => cx.deadline(Duration::from_millis(100)),
            _ => cx,
        };
        let cx = cx.build();
        match what {
            "late" => assert!(!tools.call(wait_for(1), &cx).await.is_error()),
            "dropped" => {
                let call = tools.call(wait_for(150), &cx);
                let dropped = tokio::time::timeout(Duration::from_millis(50), call);
                assert!(dropped.await.is_err());
            }
            _ => {
                let call = ToolCall::new("c", "wait", "{}");
                assert!(tools.call(call, &cx).await.is_error());
            }
        }
        gate.drain(Duration::from_secs(5)).await;
        let rows = sink.0.export(Scope::All, &AuditFilter::default()).await;
        let rows = rows.unwrap();
        assert_eq!(rows.len(), 1, "{what}");
        assert!(rows[0].outcome.is_some(), "{what}: {rows:?}");
        // `drain` returns at most one second after `patience` even if the sink hangs.
        let gate = Gate::builder()
            .audit(Audit::required(Hangs::from(1)))
            .build();
        let tools = toolset![wait].through(&gate);
        let cx = ToolContext::anonymous();
        assert!(!tools.call(wait_for(1), &cx).await.is_error());
        let drained = gate.drain(Duration::from_secs(5));
        let drained = tokio::time::timeout(Duration::from_millis(6_100), drained).await;
        assert_eq!(drained, Ok(0), "{what}");
    }
}

// A sink that hangs before the body delays a call no longer than its deadline.
#[tokio::test]
async fn deadline_covers_the_row_before_the_body() {
    let gate = Gate::builder()
        .audit(Audit::required(Hangs::from(0)))
        .build();
    let tools = toolset![wait].through(&gate);
    let since = Instant::now();
    let result = tools.call(wait_for(1), &cx(&Mailbox::default())).await;
    assert!(
        since.elapsed() < Duration::from_millis(900),
        "{:?}",
        since.elapsed()
    );
    assert_eq!(kind(&result), Some(ErrorKind::TimedOut));
    assert!(result.model_text().contains("was not made"), "{result:?}");
    assert!(
        result.error().unwrap().operator_text().contains("sink"),
        "{result:?}"
    );
}

// A sink that hangs after the body delays the result no longer than the deadline, and the result is unchanged.
#[tokio::test]
async fn deadline_covers_the_row_after_the_body() {
    let sink = Hangs::from(1);
    let gate = Gate::builder().audit(Audit::required(sink.clone())).build();
    let tools = toolset![wait].through(&gate);
    let since = Instant::now();
    let result = tools.call(wait_for(1), &cx(&Mailbox::default())).await;
    assert!(
        since.elapsed() < Duration::from_millis(900),
        "{:?}",
        since.elapsed()
    );
    assert_eq!(result.model_text(), "1");
    // The deadline of the turn applies to a call that is refused.
    let cx = ToolContext::builder()
        .deadline(Duration::from_millis(100))
        .build();
    let since = Instant::now();
    assert!(
        tools
            .call(ToolCall::new("c", "wait", "{}"), &cx)
            .await
            .is_error()
    );
    assert!(
        since.elapsed() < Duration::from_millis(900),
        "{:?}",
        since.elapsed()
    );
}

/// Returns the tools of a host whose ledger and required audit are in two databases.
fn apart(ledger: &MemoryStore, sink: impl AuditSink) -> Toolset {
    let gate = Gate::builder()
        .ledger(ledger.clone())
        .audit(Audit::required(sink))
        .build();
    toolset![post].through(&gate)
}

fn letter() -> ToolCall {
    ToolCall::new("c", "post", r#"{"to":"bob"}"#)
}

// An effect keeps its entry in the ledger when the sink hangs after the body.
#[tokio::test]
async fn effect_is_in_the_ledger_while_the_sink_hangs() {
    let (sink, mailbox) = (Hangs::from(1), Mailbox::default());
    let ledger = MemoryStore::default();
    let since = Instant::now();
    let result = apart(&ledger, sink.clone())
        .call(letter(), &cx(&mailbox))
        .await;
    assert!(
        since.elapsed() < Duration::from_millis(900),
        "{:?}",
        since.elapsed()
    );
    assert!(!result.is_error(), "{result:?}");
    let rows = ledger.list(Scope::All, None).await.unwrap();
    assert_eq!((rows[0].state, mailbox.sent()), (EffectState::Succeeded, 1));
    // The row of the required audit is in the sink, not in the ledger's database.
    let rows = async |store: &MemoryStore| {
        let rows = store.export(Scope::All, &AuditFilter::default()).await;
        rows.unwrap().len()
    };
    assert_eq!((rows(&sink.store).await, rows(&ledger).await), (1, 0));
}

// With a required audit in a different database from the ledger, no effect happens without a row in the sink, and no orphan row is left
// in the ledger's database.
#[tokio::test]
async fn required_audit_that_hangs_prevents_the_effect() {
    let expected = [
        (None, ErrorKind::Unavailable),
        (Some(0), ErrorKind::TimedOut),
    ];
    for (hangs, expected) in expected {
        let (ledger, mailbox) = (MemoryStore::default(), Mailbox::default());
        let tools = match hangs {
            Some(from) => apart(&ledger, Hangs::from(from)),
            None => apart(&ledger, Away),
        };
        let result = tools.call(letter(), &cx(&mailbox)).await;
        assert_eq!(kind(&result), Some(expected), "{result:?}");
        assert_eq!(mailbox.sent(), 0);
        assert_eq!(ledger.list(Scope::All, None).await.unwrap(), []);
        let rows = ledger.export(Scope::All, &AuditFilter::default()).await;
        assert_eq!(rows.unwrap(), [], "the ledger's database has no orphan row");
    }
}

/// A sink that is unavailable.
struct Away;

impl AuditSink for Away {
    fn write(&self, _: Vec<AuditRow>) -> StoreFuture<'_, ()> {
        Box::pin(async { Err(StoreError::Unavailable("away".into())) })
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

// A repeated call returns the result of its earlier run, and the earlier run's row in the sink is unchanged.
#[tokio::test]
async fn replay_leaves_the_row_in_a_separate_sink_unchanged() {
    let (ledger, sink) = (MemoryStore::default(), MemoryStore::default());
    let mailbox = Mailbox::default();
    let tools = apart(&ledger, sink.clone());
    let of = |user: &str| {
        let cx = ToolContext::builder().workspace("acme").user(user);
        let cx = cx.conversation("th-1").with(mailbox.clone()).build();
        placed(&cx, 0)
    };
    let first = tools.call(letter(), &of("ann")).await;
    assert!(!first.is_error(), "{first:?}");
    let rows = async || {
        sink.export(Scope::All, &AuditFilter::default())
            .await
            .unwrap()
    };
    let before = rows().await;
    assert_eq!(before[0].outcome.as_deref(), Some("ok"));
    assert!(tools.call(letter(), &of("ann")).await.is_replayed());
    assert_eq!(rows().await, before);
    // The call of a different user with this identity is refused, and has its own audit row.
    let foreign = tools.call(letter(), &of("bob")).await;
    assert_eq!(kind(&foreign), Some(ErrorKind::Denied), "{foreign:?}");
    let after = rows().await;
    assert_eq!(after.len(), 2);
    assert!(after.contains(&before[0]));
    assert!(after.iter().all(|row| row.outcome.is_some()), "{after:?}");
    assert_eq!(mailbox.sent(), 1);
}

fn intent(conversation: &str, lease: Duration) -> Intent {
    let now = Timestamp::now();
    let thread = ThreadId::new("acme", conversation).unwrap();
    Intent {
        identity: CallId::in_thread(&thread, 1, 0),
        earlier: None,
        call: "call_0".to_owned(),
        thread: Some(conversation.to_owned()),
        agent: None,
        tool: "post".to_owned(),
        contract: "9f2c".to_owned(),
        principal: "ann".to_owned(),
        arguments_hash: "77aa".to_owned(),
        owner: "dead/1".to_owned(),
        at: now,
        lease_until: now.plus(lease),
    }
}

// After a quick restart the row's lease is still valid; a later sweep of the same process makes the row ambiguous.
#[tokio::test]
async fn sweeper_marks_the_row_of_a_dead_process_ambiguous() {
    let store = MemoryStore::default();
    store
        .begin(intent("main", Duration::from_millis(150)), None)
        .await
        .unwrap();
    let sweeper = Sweeper::default().every(Duration::from_millis(40));
    let gate = Gate::builder()
        .ledger(store.clone())
        .sweeper(sweeper)
        .build();
    tokio::time::sleep(Duration::from_millis(60)).await;
    let state = async || store.list(Scope::All, None).await.unwrap()[0].state;
    assert_eq!(state().await, EffectState::Running);
    let since = Instant::now();
    while state().await == EffectState::Running {
        assert!(since.elapsed() < Duration::from_secs(5));
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(state().await, EffectState::Ambiguous);

    // A drained host no longer sweeps the store.
    gate.drain(Duration::from_millis(1)).await;
    store
        .begin(intent("side", Duration::ZERO), None)
        .await
        .unwrap();
    tokio::time::sleep(Duration::from_millis(120)).await;
    let rows = store
        .list(Scope::All, Some(EffectState::Running))
        .await
        .unwrap();
    assert_eq!(rows.len(), 1);
}

/// Counts the purges. The first three report that more rows are left.
#[derive(Clone, Default)]
struct Purges(Arc<AtomicUsize>);

impl Maintenance for Purges {
    fn erase_contents<'a>(&'a self, _: Erasure<'a>) -> StoreFuture<'a, Erased> {
        Box::pin(async { Ok(Erased::default()) })
    }
    fn purge<'a>(&'a self, _: &'a Retention, _: Timestamp, most: u32) -> StoreFuture<'a, Purged> {
        Box::pin(async move {
            assert!(most > 0);
            let more = self.0.fetch_add(1, Ordering::SeqCst) < 3;
            Ok(Purged {
                more,
                ..Purged::default()
            })
        })
    }
}

// The sweeper of the gate applies retention, one batch after the other.
#[tokio::test]
async fn sweeper_of_the_gate_applies_retention() {
    let purges = Purges::default();
    let sweeper = Sweeper::default().every(Duration::from_millis(20));
    let sweeper = sweeper.purge(purges.clone(), Retention::default());
    let gate = Gate::builder().sweeper(sweeper).build();
    tokio::time::sleep(Duration::from_millis(200)).await;
    // Four batches were purged, and the next purge is due after an hour.
    assert_eq!(purges.0.load(Ordering::SeqCst), 4);
    drop(gate);
}

// An operator can force the settlement of a row whose lease is far in the future; the audit records it.
#[tokio::test]
async fn operator_forces_a_row_whose_lease_is_in_the_future() {
    let store = MemoryStore::default();
    let intent = intent("main", Duration::from_secs(100_000));
    let key = intent.identity.key();
    store.begin(intent, None).await.unwrap();
    let gate = Gate::builder()
        .ledger(store.clone())
        .audit(Audit::required(store.clone()))
        .build();
    let resolution = || Resolution::Failed("it did not arrive".to_owned());
    let error = gate.resolve(&key, resolution(), "olga").await.unwrap_err();
    assert!(error.operator_text().contains("running"), "{error:?}");
    let forced = gate
        .force(&key, resolution(), "olga", "the machine is gone")
        .await
        .unwrap();
    assert_eq!(
        (forced.state, forced.resolved_by.as_deref()),
        (EffectState::Failed, Some("olga"))
    );
    let rows = store
        .export(Scope::All, &AuditFilter::default())
        .await
        .unwrap();
    let [row] = &rows[..] else {
        panic!("one row: {rows:?}")
    };
    assert_eq!(
        (row.principal.as_deref(), &*row.tool),
        (Some("olga"), "post")
    );
    assert_eq!(row.notes[0].action, "effect.force");
    for part in [key.as_str(), "the machine is gone", "running", "failed"] {
        assert!(row.notes[0].details.contains(part), "{row:?}");
    }
    // If the audit row cannot be written, `force` leaves the row of the ledger unchanged.
    let again = self::intent("side", Duration::from_secs(100_000));
    let key = again.identity.key();
    store.begin(again, None).await.unwrap();
    let gate = Gate::builder()
        .ledger(store.clone())
        .audit(Audit::required(Hangs::from(0)))
        .build();
    let forced = gate.force(&key, resolution(), "olga", "again");
    assert!(
        tokio::time::timeout(Duration::from_millis(100), forced)
            .await
            .is_err()
    );
    let row = EffectLedger::get(&store, &key).await.unwrap().unwrap();
    assert_eq!(row.state, EffectState::Running);
}
