//! Audit rows: their number, their content, and how they are written to the sink.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::BoxFuture;
use tool_core::prelude::*;
use tool_core::store::{
    AuditFilter, AuditRow, AuditSink, CallPlace, MemoryStore, Scope, StoreError, Timestamp,
    Workspace,
};
use tool_core::turn::{ModelMessage, Turn, Turns};
use tool_core::{Approvals, Audit, ErrorKind, Gate, Reply, Rules};

use crate::support::{Host, Mailbox, count, kind, mail, pay, placed, send_mail};

async fn rows(store: &MemoryStore) -> Vec<AuditRow> {
    AuditSink::export(store, Scope::All, &AuditFilter::default())
        .await
        .unwrap()
}

async fn only(store: &MemoryStore) -> AuditRow {
    let mut rows = rows(store).await;
    assert_eq!(rows.len(), 1, "{rows:?}");
    rows.remove(0)
}

/// The speed of a delivery.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, StrictSchema)]
#[serde(rename_all = "snake_case")]
enum Speed {
    /// Delivery by plane.
    Fast,
    /// Delivery by ship.
    Slow,
}

/// Sends a parcel.
#[tool]
async fn parcel(
    cx: &ToolContext,
    mailbox: &Mailbox,
    /// The recipient of the parcel.
    to: String,
    /// The speed of the delivery.
    speed: Speed,
    /// The weight in grams.
    weight: u32,
    /// Whether the parcel is insured.
    insured: bool,
    /// The content of the parcel.
    items: Vec<String>,
) -> Result<String, ToolError> {
    cx.audit("weighed", &serde_json::json!({ "grams": weight }));
    mailbox.send();
    let _ = (insured, items);
    match speed {
        Speed::Fast => Ok(to),
        Speed::Slow => Err(ToolError::foreign(std::io::Error::other(
            "the ship is away",
        ))),
    }
}

fn host(audit: Audit) -> (Gate, Toolset, ToolContext) {
    let gate = Gate::builder().audit(audit).build();
    let tools = toolset![parcel, send_mail, pay, count].through(&gate);
    let cx = ToolContext::builder()
        .workspace("acme")
        .user("ann")
        .runtime_user("svc")
        .agent("clerk")
        .session("s-1")
        .conversation("th-1")
        .with(Mailbox::default())
        .build();
    (gate, tools, cx)
}

const PARCEL: &str =
    r#"{"to":"bob","speed":"fast","weight":700,"insured":true,"items":["a gift","a card"]}"#;

// S1-10, S1-15, S1-16, S1-21, S1-22, S1-23, S1-25, S3-19: a row names caller, conversation, tool, outcome, duration and notes, and the
// length of each text in the arguments.
#[tokio::test]
async fn audit_row_has_caller_and_outcome_but_no_text() {
    let store = MemoryStore::default();
    let (_, tools, cx) = host(Audit::required(store.clone()));
    let result = tools
        .call(ToolCall::new("c-1", "parcel", PARCEL), &placed(&cx, 1))
        .await;
    assert!(!result.is_error());
    let row = only(&store).await;
    assert_eq!(
        (row.call.as_str(), row.tool.as_str(), row.outcome.as_deref()),
        ("c-1", "parcel", Some("ok"))
    );
    assert_eq!(
        (
            row.identity.workspace().as_str(),
            row.principal.as_deref(),
            row.runtime_user.as_deref(),
            row.agent.as_deref()
        ),
        ("acme", Some("ann"), Some("svc"), Some("clerk"))
    );
    assert_eq!(
        (
            row.session.as_deref(),
            row.thread.as_deref(),
            row.identity.place()
        ),
        (
            Some("s-1"),
            Some("th-1"),
            Some(CallPlace {
                message: 1,
                position: 1
            })
        )
    );
    let arguments: serde_json::Value = serde_json::from_str(&row.arguments).unwrap();
    assert_eq!(
        arguments,
        serde_json::json!({
            "to": {"length": 3}, "speed": "fast", "weight": 700, "insured": true, "items": [{"length": 6}, {"length": 6}],
        })
    );
    assert_eq!(
        (row.notes[0].action.as_str(), row.notes[0].details.as_str()),
        ("weighed", r#"{"grams":700}"#)
    );
    assert!(row.duration_us.is_some());
    assert_eq!(row.output_bytes, Some(5));
    assert!(!format!("{row:?}").contains("gift"));
}

// S1-21, S1-10: every call has one row, whether it succeeds, fails, waits for an approval, or has invalid arguments or an unknown name.
#[tokio::test]
async fn every_call_has_one_audit_row() {
    let store = MemoryStore::default();
    let (_, tools, cx) = host(Audit::required(store.clone()));
    let calls = [
        ("c-1", "parcel", PARCEL.to_owned(), "ok"),
        ("c-2", "parcel", PARCEL.replace("fast", "slow"), "failed"),
        (
            "c-3",
            "parcel",
            "{\"to\":1}".to_owned(),
            "invalid_arguments",
        ),
        ("c-4", "parcle", "{}".to_owned(), "unknown_tool"),
        ("c-5", "send_mail", r#"{"to":"bob"}"#.to_owned(), "pending"),
        (
            "c-6",
            "parcel",
            PARCEL.replace("\"weight\":700", "\"weight\":\"700\""),
            "ok",
        ),
    ];
    for (id, tool, arguments, outcome) in &calls {
        tools
            .call(ToolCall::new(*id, *tool, arguments.clone()), &cx)
            .await;
        let rows = rows(&store).await;
        let of: Vec<_> = rows.iter().filter(|row| row.call == *id).collect();
        assert_eq!(of.len(), 1, "{id}");
        assert_eq!(of[0].outcome.as_deref(), Some(*outcome), "{id}");
        assert_eq!(of[0].tool, *tool);
    }
    let rows = rows(&store).await;
    let row = |id: &str| rows.iter().find(|row| row.call == id).unwrap();
    assert!(
        row("c-2")
            .error
            .as_deref()
            .unwrap()
            .contains("the ship is away"),
        "the row contains the operator's text"
    );
    // Repaired arguments have two hashes; valid arguments have one.
    assert!(row("c-6").used_hash.is_some() && row("c-1").used_hash.is_none());
    assert_ne!(
        row("c-6").used_hash.as_deref(),
        Some(row("c-6").original_hash.as_str())
    );
}

// S0-21, S1-49: a call of a hidden tool is refused; its audit row names the layer that hid the tool, and the error does not.
#[tokio::test]
async fn audit_row_names_the_hiding_layer_and_the_error_does_not() {
    let store = MemoryStore::default();
    let gate = Gate::builder()
        .audit(Audit::required(store.clone()))
        .build();
    let registry = Registry::builder()
        .tool::<count>()
        .tool::<pay>()
        .build()
        .unwrap();
    let cx = ToolContext::anonymous();
    let tools = registry
        .toolset(&cx, &Rules::default().deny(["pay"]))
        .through(&gate);
    let hidden = tools
        .call(ToolCall::new("c-1", "pay", r#"{"amount":1}"#), &cx)
        .await;
    let absent = tools
        .call(ToolCall::new("c-2", "fly", r#"{"amount":1}"#), &cx)
        .await;
    assert_eq!(kind(&hidden), Some(ErrorKind::UnknownTool));
    assert_eq!(
        hidden.model_text().replace("pay", "fly"),
        absent.model_text()
    );
    let rows = rows(&store).await;
    let layer = |id: &str| {
        rows.iter()
            .find(|row| row.call == id)
            .unwrap()
            .layer
            .clone()
    };
    assert_eq!(
        (layer("c-1").as_deref(), layer("c-2")),
        (Some("deny"), None)
    );
}

// S1-25: parallel calls keep their own durations.
#[tokio::test]
async fn parallel_calls_keep_their_own_durations() {
    /// Sleeps for a short time.
    #[tool(read_only)]
    async fn nap(
        /// The time to sleep, in milliseconds.
        ms: u64,
    ) -> u64 {
        tokio::time::sleep(Duration::from_millis(ms)).await;
        ms
    }
    let store = MemoryStore::default();
    let gate = Gate::builder()
        .audit(Audit::required(store.clone()))
        .build();
    let tools = toolset![nap].through(&gate);
    let cx = ToolContext::anonymous();
    let call = |id: &'static str, ms: u64| {
        tools.call(ToolCall::new(id, "nap", format!(r#"{{"ms":{ms}}}"#)), &cx)
    };
    futures::future::join(call("long", 120), call("short", 5)).await;
    let rows = rows(&store).await;
    let took = |id: &str| {
        rows.iter()
            .find(|row| row.call == id)
            .unwrap()
            .duration_us
            .unwrap()
    };
    assert!(
        took("long") > took("short"),
        "{} {}",
        took("long"),
        took("short")
    );
}

// S1-25: the row and the result of a call have the same duration.
#[tokio::test]
async fn row_and_result_have_one_duration() {
    let store = MemoryStore::default();
    let (_, tools, cx) = host(Audit::required(store.clone()));
    let result = tools
        .call(ToolCall::new("c-1", "parcel", PARCEL), &placed(&cx, 1))
        .await;
    let row = only(&store).await;
    assert_eq!(
        row.duration_us.map(u128::from),
        Some(result.duration().as_micros())
    );
}

/// A sink that can become unavailable.
#[derive(Clone, Default)]
struct Flaky {
    away: Arc<AtomicBool>,
    rows: Arc<Mutex<Vec<AuditRow>>>,
}

impl AuditSink for Flaky {
    fn write(&self, rows: Vec<AuditRow>) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            if self.away.load(Ordering::SeqCst) {
                return Err(StoreError::Unavailable("away".into()));
            }
            self.rows.lock().unwrap().extend(rows);
            Ok(())
        })
    }
    fn export<'a>(
        &'a self,
        _: Scope<'a>,
        _: &'a AuditFilter,
    ) -> BoxFuture<'a, Result<Vec<AuditRow>, StoreError>> {
        Box::pin(async move { Ok(self.rows.lock().unwrap().clone()) })
    }
    fn erase<'a>(&'a self, _: &'a Workspace, _: &'a str) -> BoxFuture<'a, Result<u64, StoreError>> {
        Box::pin(async { Ok(0) })
    }
    fn retain<'a>(&'a self, _: Scope<'a>, _: Timestamp) -> BoxFuture<'a, Result<u64, StoreError>> {
        Box::pin(async { Ok(0) })
    }
}

// S1-26: while the sink is unavailable, the newest 500 rows wait for it, and the dropped rows are counted.
#[tokio::test(start_paused = true)]
async fn unavailable_sink_drops_and_counts_the_oldest_rows() {
    let sink = Flaky::default();
    let (gate, tools, cx) = host(Audit::best_effort(sink.clone()));
    let buffer = gate.audit().buffer().unwrap().clone();
    let call = async |n: u32| {
        tools
            .call(
                ToolCall::new(format!("c-{n}"), "count", format!(r#"{{"from":{n}}}"#)),
                &cx,
            )
            .await
    };

    // Ten waiting rows are written immediately; fewer rows are written after five seconds.
    for n in 0..10 {
        call(n).await;
    }
    tokio::time::sleep(Duration::from_millis(10)).await;
    assert_eq!(sink.rows.lock().unwrap().len(), 10);
    call(10).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(sink.rows.lock().unwrap().len(), 10);
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(sink.rows.lock().unwrap().len(), 11);
    sink.rows.lock().unwrap().clear();

    sink.away.store(true, Ordering::SeqCst);
    for n in 0..600 {
        call(n).await;
    }
    assert!(buffer.flush().await.is_err());
    assert_eq!((buffer.waiting(), buffer.dropped()), (500, 100));
    sink.away.store(false, Ordering::SeqCst);
    gate.drain(Duration::from_secs(1)).await;
    let rows = sink.rows.lock().unwrap().clone();
    let ids: Vec<_> = rows.iter().map(|row| row.call.clone()).collect();
    assert_eq!(
        ids,
        (100..600).map(|n| format!("c-{n}")).collect::<Vec<_>>()
    );
}

/// Fails with an error text of a given length.
#[tool]
async fn fail_at_length(
    /// The number of repetitions of `ä`, which has two bytes.
    times: u32,
) -> Result<String, ToolError> {
    Err(ToolError::new("ä".repeat(times as usize)))
}

// S1-22: a row stores at most 1,000 bytes of an error, cut between two characters (F4)
#[tokio::test]
async fn audit_error_is_truncated_at_a_thousand_bytes() {
    let store = MemoryStore::default();
    let gate = Gate::builder()
        .audit(Audit::required(store.clone()))
        .build();
    let tools = toolset![fail_at_length].through(&gate);
    for times in [1_usize, 499, 500, 501, 5_000] {
        let id = format!("c-{times}");
        let call = ToolCall::new(&id, "fail_at_length", format!(r#"{{"times":{times}}}"#));
        tools.call(call, &ToolContext::anonymous()).await;
        // Rows of the same millisecond have no defined order.
        let mut rows = rows(&store).await;
        rows.retain(|row| row.call == id);
        let error = rows.pop().unwrap().error.unwrap();
        assert!(error.len() <= 1_000, "{}", error.len());
        let kept = error.matches('ä').count();
        // The kind of the error may precede its text.
        let before = error.find('ä').unwrap();
        assert_eq!(kept, times.min((1_000 - before) / 2));
    }
}

// S1-26: the first attempt to write rows releases the contexts of their calls, and each row is written once
#[tokio::test]
async fn waiting_rows_release_their_context_after_the_first_write() {
    let sink = Flaky::default();
    let gate = Gate::builder()
        .audit(Audit::best_effort(sink.clone()))
        .build();
    let tools = toolset![parcel, count].through(&gate);
    // The context contains `lent`, so a reference remains until every clone of the context is dropped.
    let lent = Arc::new(());
    let cx = ToolContext::builder().with(Arc::clone(&lent)).build();
    let buffer = gate.audit().buffer().unwrap();
    for name in ["count", "unheard_of"] {
        tools
            .call(ToolCall::new(name, name, r#"{"from":3}"#), &cx)
            .await;
    }
    drop(cx);
    assert_eq!(
        Arc::strong_count(&lent),
        2,
        "the rows keep the context until the first attempt to write them"
    );

    let written = async || {
        buffer.flush().await.unwrap();
        std::mem::take(&mut *sink.rows.lock().unwrap())
    };
    sink.away.store(true, Ordering::SeqCst);
    assert!(buffer.flush().await.is_err());
    assert_eq!((buffer.waiting(), Arc::strong_count(&lent)), (2, 1));
    assert!(buffer.flush().await.is_err());
    sink.away.store(false, Ordering::SeqCst);
    let rows = written().await;
    let calls: Vec<_> = rows.iter().map(|row| row.call.as_str()).collect();
    assert_eq!(calls, ["count", "unheard_of"]);
    assert_eq!(rows[0].arguments, r#"{"from":3}"#);
    assert_eq!(written().await, []);
}

#[tokio::test]
async fn required_audit_failure_stops_the_call() {
    let sink = Flaky::default();
    let (_, tools, cx) = host(Audit::required(sink.clone()));
    sink.away.store(true, Ordering::SeqCst);
    let result = tools
        .call(ToolCall::new("c-1", "parcel", PARCEL), &cx)
        .await;
    assert_eq!(kind(&result), Some(ErrorKind::Unavailable));
    assert_eq!(cx.get::<Mailbox>().unwrap().sent(), 0);
    sink.away.store(false, Ordering::SeqCst);
    tools
        .call(ToolCall::new("c-2", "parcel", PARCEL), &cx)
        .await;
    let outcomes: Vec<_> = sink
        .rows
        .lock()
        .unwrap()
        .iter()
        .map(|row| row.outcome.clone())
        .collect();
    assert_eq!(outcomes.last().unwrap().as_deref(), Some("ok"));
    assert!(
        outcomes.contains(&None),
        "the row was written before the call ended"
    );
}

// An approved call stays open while a sink that is not the approval store is unavailable, and begins once the sink works again
#[tokio::test]
async fn approved_call_stays_open_while_a_separate_sink_is_down() {
    let (store, sink, mailbox) = (MemoryStore::default(), Flaky::default(), Mailbox::default());
    let approvals = Approvals::builder(store.clone()).build().unwrap();
    let gate = Gate::builder()
        .approvals(approvals.clone())
        .ledger(store.clone())
        .audit(Audit::required(sink.clone()))
        .build();
    let tools = toolset![send_mail].through(&gate);
    let turns = Turns::new(store.clone());
    let cx = ToolContext::builder()
        .workspace("acme")
        .user("ann")
        .conversation("th-1")
        .with(mailbox.clone())
        .build();
    let calls = ModelMessage::calls([mail("c-1")]);
    let message = turns.record(calls, &cx).await.unwrap();
    let Turn::Waiting(tickets) = turns.run(&tools, &message, &cx).await.unwrap() else {
        panic!()
    };
    let (acme, token) = (Workspace::new("acme"), &tickets[0].token);
    let answered = approvals.answer(&acme, &tools, token, Reply::Approve, "boss", None);
    answered.await.unwrap();
    sink.away.store(true, Ordering::SeqCst);
    assert!(turns.run(&tools, &message, &cx).await.is_err());
    assert_eq!(mailbox.sent(), 0);
    sink.away.store(false, Ordering::SeqCst);
    let turn = turns.run(&tools, &message, &cx).await.unwrap();
    assert!(matches!(turn, Turn::Complete(_)), "{turn:?}");
    assert_eq!(mailbox.sent(), 1);
}

// S1-21: a call whose future is dropped has one row.
#[tokio::test]
async fn a_call_that_is_dropped_has_its_row() {
    /// Waits until it is cancelled.
    #[tool(read_only)]
    async fn forever() -> u8 {
        std::future::pending().await
    }
    for audit in [0, 1] {
        let store = MemoryStore::default();
        let audit = if audit == 0 {
            Audit::required(store.clone())
        } else {
            Audit::best_effort(store.clone())
        };
        let gate = Gate::builder().audit(audit).build();
        let tools = toolset![forever].through(&gate);
        let cx = ToolContext::anonymous();
        let call = tools.call(ToolCall::new("c-1", "forever", "{}"), &cx);
        assert!(
            tokio::time::timeout(Duration::from_millis(5), call)
                .await
                .is_err()
        );
        gate.drain(Duration::from_millis(5)).await;
        tokio::time::sleep(Duration::from_millis(5)).await;
        assert_eq!(only(&store).await.outcome.as_deref(), Some("cancelled"));
    }
}

#[tokio::test]
async fn audit_row_names_the_approval_and_the_approver() {
    let host = Host::new();
    let ticket = host.asked().await;
    host.approve(&ticket).await;
    host.tools.resume(&ticket.token, &host.ann()).await;
    let row = only(&host.store).await;
    assert_eq!(
        (row.approval.as_deref(), row.approver.as_deref()),
        (Some(ticket.id.as_str()), Some("boss"))
    );
    assert_eq!(
        row.outcome.as_deref(),
        Some("ok"),
        "the row of the call that waited is the row of the call that ran"
    );
}

#[test]
fn future_of_a_call_through_a_gate_has_at_most_4096_bytes() {
    let host = Host::new();
    let cx = host.ann();
    let bytes = size_of_val(&host.tools.call(mail("c-1"), &cx));
    assert!(
        bytes <= 4096,
        "{bytes} bytes: clippy would warn about a future with two calls"
    );
}

/// A patient of the hospital.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, StrictSchema)]
struct Patient {
    /// The name of the patient.
    name: String,
    /// The case number of the patient.
    #[schema(audit = value)]
    case: String,
    /// The weight in grams.
    #[schema(audit = length)]
    weight: u32,
}

/// The place of the patient.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, StrictSchema)]
#[serde(tag = "to", rename_all = "snake_case")]
enum Ward {
    /// A bed in a ward.
    Bed {
        /// The label of the bed.
        #[schema(audit = preview)]
        label: String,
        /// The note about the patient.
        note: String,
    },
}

/// Writes an order for a patient.
#[tool]
async fn order(
    mailbox: &Mailbox,
    /// The drug; the audit stores the whole value.
    #[arg(audit = value)]
    drug: String,
    /// The reason; the audit stores its beginning.
    #[arg(audit = preview)]
    reason: String,
    /// The notes; the audit stores the beginning of each one.
    #[arg(audit = preview)]
    notes: Vec<String>,
    /// The dose; the audit stores only its length.
    #[arg(audit = length)]
    dose: u32,
    /// The times; the audit stores only their number.
    #[arg(audit = length)]
    times: Vec<String>,
    /// The patient; the audit stores the whole value, except for fields with their own audit form.
    #[arg(audit = value)]
    patient: Patient,
    /// Other patients; the audit stores the lengths of texts, except for fields with their own audit form.
    others: Vec<Patient>,
    /// The ward of the patient.
    ward: Option<Ward>,
    /// The author; the audit stores only the length.
    by: String,
) -> usize {
    mailbox.send();
    [drug, reason, by].len()
        + notes.len()
        + times.len()
        + others.len()
        + usize::try_from(dose).unwrap_or(0)
        + usize::from(ward.is_some())
        + patient.name.len()
}

// S1-22, S1-23: `audit = value | preview | length` on a parameter or a field decides how a row stores it, within every enclosing type; secrets are
// always redacted.
#[tokio::test]
async fn audit_attribute_decides_what_a_row_stores() {
    let store = MemoryStore::default();
    let gate = Gate::builder()
        .audit(Audit::required(store.clone()))
        .build();
    let cx = ToolContext::builder()
        .secret("key", "sk-ward-secret")
        .with(Mailbox::default())
        .build();
    let long = "ä".repeat(300);
    let arguments = serde_json::json!({
        "drug": "aspirin sk-ward-secret",
        "reason": long,
        "notes": [long, "short"],
        "dose": 12345,
        "times": ["noon", "night"],
        "patient": {"name": "Bob", "case": "c-7", "weight": 70000},
        "others": [{"name": "Eve", "case": "c-8", "weight": 1}],
        "ward": {"to": "bed", "label": "B12", "note": "sleeps"},
        "by": "Dr. Who",
    });
    let call = ToolCall::new("c-1", "order", arguments.to_string());
    let result = toolset![order].through(&gate).call(call, &cx).await;
    assert!(!result.is_error(), "{result:?}");
    let row: serde_json::Value = serde_json::from_str(&only(&store).await.arguments).unwrap();
    let cut = serde_json::json!({"preview": format!("{}…", "ä".repeat(100)), "length": 300});
    assert_eq!(
        row,
        serde_json::json!({
            "drug": "aspirin [secret:key]",
            "reason": cut,
            "notes": [cut, {"preview": "short", "length": 5}],
            "dose": {"length": 5},
            "times": {"items": 2},
            "patient": {"name": "Bob", "case": "c-7", "weight": {"length": 5}},
            "others": [{"name": {"length": 3}, "case": "c-8", "weight": {"length": 1}}],
            "ward": {"to": "bed", "label": {"preview": "B12", "length": 3}, "note": {"length": 6}},
            "by": {"length": 7},
        })
    );
}
