//! The audit rows of calls that are dispatched again: they contain the final outcome.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Waker};
use std::time::Duration;

use tool_core::prelude::*;
use tool_core::store::{
    AuditFilter, AuditRow, AuditSink, EffectLedger, EffectState, MemoryStore, Resolution, Scope,
    StoreFuture, Timestamp, Workspace,
};
use tool_core::turn::{ModelMessage, Turn, Turns};
use tool_core::{Approvals, Audit, ErrorKind, Gate, Reply};

use crate::slow::Slow;
use crate::support::{Mailbox, kind, mail, placed, send_mail, ticket};

async fn rows(store: &MemoryStore) -> Vec<AuditRow> {
    AuditSink::export(store, Scope::All, &AuditFilter::default())
        .await
        .unwrap()
}

fn outcome(row: &AuditRow) -> Option<&str> {
    row.outcome.as_deref()
}

fn cx(mailbox: &Mailbox) -> ToolContext {
    ToolContext::builder()
        .workspace("acme")
        .user("ann")
        .conversation("th-1")
        .with(mailbox.clone())
        .build()
}

// The row of a call that is dropped before its body stays open until the call runs
#[tokio::test]
async fn row_of_a_call_that_was_dropped_before_its_body_is_not_final() {
    for required in [false, true] {
        let (store, mailbox) = (MemoryStore::default(), Mailbox::default());
        let approvals = Approvals::builder(store.clone()).build().unwrap();
        let audit = if required {
            Audit::required(store.clone())
        } else {
            Audit::best_effort(store.clone())
        };
        let gate = Gate::builder()
            .approvals(approvals.clone())
            .ledger(Slow::new(store.clone(), 3))
            .audit(audit)
            .build();
        let tools = toolset![send_mail].through(&gate);
        let written = async || {
            if let Some(buffer) = gate.audit().buffer() {
                buffer.flush().await.unwrap();
            }
            for _ in 0..20 {
                tokio::task::yield_now().await;
            }
            let [row] = <[AuditRow; 1]>::try_from(rows(&store).await).unwrap();
            row
        };
        let cx = placed(&cx(&mailbox), 0);
        let mut dropped = Box::pin(tools.call(mail("c-1"), &cx));
        let mut task = Context::from_waker(Waker::noop());
        assert!(dropped.as_mut().poll(&mut task).is_pending());
        drop(dropped);
        let row = written().await;
        assert_eq!(outcome(&row), Some("interrupted"), "{row:?}");
        assert!(!row.is_final() && row.error.unwrap().contains("dropped"));

        let asked = ticket(&tools.call(mail("c-1"), &cx).await);
        let acme = Workspace::new("acme");
        let answered = approvals.answer(&acme, &tools, &asked.token, Reply::Approve, "boss", None);
        answered.await.unwrap();
        assert!(!tools.resume(&asked.token, &cx).await.is_error());
        let row = written().await;
        assert_eq!(outcome(&row), Some("ok"), "{row:?}");
        assert_eq!(row.approver.as_deref(), Some("boss"));
    }
}

/// Reads a text; the first attempt hangs.
#[tool(read_only)]
async fn read(hangs: &Hangs) -> &'static str {
    if hangs.0.swap(false, Ordering::SeqCst) {
        std::future::pending::<()>().await;
    }
    "read"
}

#[derive(Clone)]
struct Hangs(Arc<AtomicBool>);
tool_core::host_value!(Hangs, tool_core::Effect::READ);

// If a drain or a dropped turn interrupts a read, its row gets the outcome of the next process's run
#[tokio::test]
async fn row_of_an_interrupted_read_is_reused_by_the_next_run() {
    for drains in [false, true] {
        for required in [false, true] {
            let store = MemoryStore::default();
            let start = || {
                let audit = if required {
                    Audit::required(store.clone())
                } else {
                    Audit::best_effort(store.clone())
                };
                let gate = Gate::builder().ledger(store.clone()).audit(audit).build();
                (
                    toolset![read].through(&gate),
                    gate,
                    Turns::new(store.clone()),
                )
            };
            let cx = ToolContext::builder()
                .workspace("acme")
                .user("ann")
                .conversation("th-1")
                .with(Hangs(Arc::new(AtomicBool::new(true))))
                .build();
            let (tools, gate, turns) = start();
            let calls = ModelMessage::calls([ToolCall::new("c-1", "read", "{}")]);
            let message = turns.record(calls, &cx).await.unwrap();
            if drains {
                let (turn, _) = tokio::join!(turns.run(&tools, &message, &cx), async {
                    while gate.running() == 0 {
                        tokio::task::yield_now().await;
                    }
                    gate.drain(Duration::from_millis(1)).await
                });
                assert!(!matches!(turn, Ok(Turn::Complete(_))), "{turn:?}");
            } else {
                let dropped = turns.run(&tools, &message, &cx);
                let dropped = tokio::time::timeout(Duration::from_millis(20), dropped);
                assert!(dropped.await.is_err());
                gate.drain(Duration::from_secs(1)).await;
                // The end of the run is written in the background.
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            let open = rows(&store).await;
            let what = format!("drains: {drains}, required: {required}: {open:?}");
            assert!(
                open.len() == 1 && outcome(&open[0]) == Some("interrupted"),
                "{what}"
            );
            let (tools, gate, turns) = start();
            let turn = turns.run(&tools, &message, &cx).await.unwrap();
            assert!(matches!(turn, Turn::Complete(_)), "{turn:?}");
            gate.drain(Duration::from_secs(1)).await;
            let rows = rows(&store).await;
            assert_eq!(rows.len(), 1);
            assert_eq!(outcome(&rows[0]), Some("ok"), "{what}");
        }
    }
}

/// Sends a parcel; the first one is lost.
#[tool(timeout = "50ms")]
async fn parcel(mailbox: &Mailbox) -> Result<usize, ToolError> {
    mailbox.send();
    match mailbox.sent() {
        1 => std::future::pending().await,
        2 => Err(ToolError::new("the post office is closed")),
        sent => Ok(sent),
    }
}

// A rerun that an operator allows is an attempt with its own row, and the row of the first attempt keeps its outcome
#[tokio::test]
async fn each_attempt_that_an_operator_allows_has_a_row() {
    for one_database in [true, false] {
        let (ledger, mailbox) = (MemoryStore::default(), Mailbox::default());
        let sink = if one_database {
            ledger.clone()
        } else {
            MemoryStore::default()
        };
        let gate = Gate::builder()
            .ledger(ledger.clone())
            .audit(Audit::required(sink.clone()))
            .build();
        let tools = toolset![parcel].through(&gate);
        let cx = placed(&cx(&mailbox), 0);
        let call = || ToolCall::new("c-1", "parcel", "{}");
        let cut = tools.call(call(), &cx).await;
        assert_eq!(kind(&cut), Some(ErrorKind::TimedOut));
        let row = async || {
            let rows = EffectLedger::list(&ledger, Scope::All, None).await.unwrap();
            rows.into_iter().next().unwrap()
        };
        let key = row().await.intent.identity.key();
        let first = rows(&sink).await;
        assert_eq!(outcome(&first[0]), Some("timed_out"));
        gate.resolve(&key, Resolution::Rerun, "olga").await.unwrap();
        let second = tools.call(call(), &cx).await;
        assert_eq!(kind(&second), Some(ErrorKind::Failed), "{second:?}");
        assert_eq!(
            (row().await.attempt, row().await.state),
            (2, EffectState::Failed)
        );
        let all = rows(&sink).await;
        let of = |action: &str| {
            let mut of = all.iter().filter(|row| {
                row.notes.iter().any(|note| note.action == action)
                    && row.notes[0].details.contains(key.as_str())
            });
            let found = of.next().unwrap().clone();
            assert!(of.next().is_none(), "{all:#?}");
            found
        };
        // The rows are the first attempt, the operator's decision, and the second attempt.
        assert_eq!(all.len(), 3, "{all:#?}");
        assert!(all.contains(&first[0]));
        let word = of("effect.resolve");
        assert_eq!(
            (
                word.principal.as_deref(),
                word.thread.as_deref(),
                &*word.tool
            ),
            (Some("olga"), Some("th-1"), "parcel")
        );
        assert!(word.notes[0].details.contains(r#""resolution":"rerun""#));
        let again = of("effect.rerun");
        assert_eq!(outcome(&again), Some("failed"));
        assert_eq!(
            (&*again.call, again.principal.as_deref()),
            ("c-1", Some("ann"))
        );
        assert_eq!(again.identity, first[0].identity.attempt(2));
        assert!(again.notes[0].details.contains("olga"));
        // A decision that the ledger refuses leaves no row.
        assert!(gate.resolve(&key, Resolution::Rerun, "olga").await.is_err());
        assert_eq!(rows(&sink).await.len(), 3);
    }
}

// If the sink of a required audit is a different database and fails, a later attempt does not begin
#[tokio::test]
async fn later_attempt_does_not_begin_without_its_row() {
    #[derive(Clone)]
    struct Refuses(MemoryStore, Arc<AtomicBool>);
    impl AuditSink for Refuses {
        fn write(&self, rows: Vec<AuditRow>) -> StoreFuture<'_, ()> {
            let again = |row: &AuditRow| row.notes.iter().any(|of| of.action == "effect.rerun");
            if self.1.load(Ordering::SeqCst) && rows.iter().any(again) {
                return Box::pin(async {
                    Err(tool_core::store::StoreError::Unavailable("away".into()))
                });
            }
            self.0.write(rows)
        }
        fn export<'a>(
            &'a self,
            scope: Scope<'a>,
            filter: &'a AuditFilter,
        ) -> StoreFuture<'a, Vec<AuditRow>> {
            self.0.export(scope, filter)
        }
        fn erase<'a>(&'a self, of: &'a Workspace, principal: &'a str) -> StoreFuture<'a, u64> {
            AuditSink::erase(&self.0, of, principal)
        }
        fn retain<'a>(&'a self, scope: Scope<'a>, since: Timestamp) -> StoreFuture<'a, u64> {
            self.0.retain(scope, since)
        }
    }
    let (ledger, mailbox) = (MemoryStore::default(), Mailbox::default());
    let sink = Refuses(MemoryStore::default(), Arc::new(AtomicBool::new(true)));
    let gate = Gate::builder()
        .ledger(ledger.clone())
        .audit(Audit::required(sink.clone()))
        .build();
    let tools = toolset![parcel].through(&gate);
    let cx = placed(&cx(&mailbox), 0);
    let call = || ToolCall::new("c-1", "parcel", "{}");
    assert!(tools.call(call(), &cx).await.is_error());
    let found = EffectLedger::list(&ledger, Scope::All, None).await.unwrap();
    let key = found[0].intent.identity.key();
    gate.resolve(&key, Resolution::Rerun, "olga").await.unwrap();
    let refused = tools.call(call(), &cx).await;
    assert_eq!(kind(&refused), Some(ErrorKind::Unavailable), "{refused:?}");
    assert_eq!(mailbox.sent(), 1);
    // The ledger lists no row for the refused attempt. The next dispatch begins this attempt again.
    assert_eq!(
        EffectLedger::list(&ledger, Scope::All, None).await.unwrap(),
        []
    );
    sink.1.store(false, Ordering::SeqCst);
    assert_eq!(
        kind(&tools.call(call(), &cx).await),
        Some(ErrorKind::Failed)
    );
    assert_eq!(mailbox.sent(), 2);
    let row = EffectLedger::get(&ledger, &key).await.unwrap().unwrap();
    assert_eq!(row.attempt, 2);
    let rows = rows(&sink.0).await;
    let failed = rows.iter().filter(|row| outcome(row) == Some("failed"));
    assert_eq!(failed.count(), 1);
    assert!(rows.iter().all(|row| row.outcome.is_some()), "{rows:#?}");
}
