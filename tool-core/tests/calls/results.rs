//! Results of calls: envelopes, model output, citations and streams.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use futures::{Stream, StreamExt, stream};
use serde_json::{Value, json};
use tool_core::prelude::*;
use tool_core::store::MemoryStore;
use tool_core::{Audit, Effect, ErrorKind, Gate, Part, StreamItem};

#[derive(Debug, Serialize, Deserialize, StrictSchema)]
struct Report {
    /// The summary of the report.
    summary: String,
    /// The texts of all pages.
    pages: Vec<String>,
}

fn report() -> Report {
    Report {
        summary: "two pages".to_owned(),
        pages: vec!["first".to_owned(), "second".to_owned()],
    }
}

#[derive(Clone, Default)]
struct Counts {
    views: Arc<AtomicU32>,
    steps: Arc<AtomicU32>,
}
tool_core::host_value!(Counts, Effect::NONE);

/// A report that counts how often its view for the model is made.
#[derive(Serialize)]
struct Counted {
    report: Report,
    #[serde(skip)]
    counts: Counts,
}

fn brief(counted: &Counted) -> ModelOutput {
    counted.counts.views.fetch_add(1, Ordering::SeqCst);
    ModelOutput::text(&counted.report.summary)
}

/// Returns a report and cites its source.
#[tool(to_model_output = brief)]
async fn survey(cx: &ToolContext, counts: &Counts) -> Result<Counted, ToolError> {
    cx.cite(
        Citation::new("handbook", "onboarding.md")
            .version("7")
            .retrieved_at("2026-03-01T09:30:00Z")?,
    );
    Ok(Counted {
        report: report(),
        counts: counts.clone(),
    })
}

/// Reads pages and reports its progress.
#[tool(to_model_output = brief)]
fn read_pages(
    #[context] counts: Counts,
    /// The number of pages; 13 fails.
    pages: u32,
) -> ToolStream<u32, Counted> {
    tool_stream! {
        for page in 1..=pages {
            counts.steps.fetch_add(1, Ordering::SeqCst);
            yield page;
        }
        if pages == 13 {
            Err(ToolError::new("the thirteenth page is missing"))?;
        }
        let _parsed: u32 = "1".parse()?;
        Counted { report: Report { summary: format!("{pages} pages"), ..report() }, counts: counts.clone() }
    }
}

/// Ends without a result.
#[tool]
fn no_final() -> ToolStream<u32, String> {
    ToolStream::new(stream::iter([
        StreamItem::Progress(1),
        StreamItem::Progress(2),
    ]))
}

/// Yields a second final value after the first.
#[tool]
fn two_finals(#[context] counts: Counts) -> impl Stream<Item = StreamItem<u32, String>> {
    let items = ["one", "two"].map(|text| StreamItem::Final(text.to_owned()));
    stream::iter(items).inspect(move |_| {
        counts.steps.fetch_add(1, Ordering::SeqCst);
    })
}

/// Fails before its stream starts.
#[tool]
async fn late_stream() -> Result<ToolStream<u32, String>, ToolError> {
    Err(ToolError::new("no stream today"))
}

#[derive(Serialize)]
struct Chart {
    rows: Vec<u32>,
}

impl ToModelOutput for Chart {
    fn to_model_output(&self) -> ModelOutput {
        ModelOutput::parts([
            Part::text(format!("{} rows", self.rows.len())),
            Part::base64("image/png", "aGk="),
        ])
    }
}

/// Draws a chart.
#[tool]
async fn chart() -> Result<Chart, ToolError> {
    Ok(Chart { rows: vec![1, 2] })
}

/// Reports progress from an ordinary tool.
#[tool]
async fn steps(cx: &ToolContext) -> &'static str {
    for step in ["fetch", "read"] {
        cx.progress(&json!({"step": step}));
        tokio::task::yield_now().await;
    }
    "done"
}

/// Reports progress without waiting.
#[tool]
async fn chatter(
    cx: &ToolContext,
    /// The number of steps.
    times: u32,
    /// The length of each step.
    size: u32,
) -> &'static str {
    for step in 0..times {
        cx.progress(&format!("{step:>width$}", width = size as usize));
    }
    "done"
}

/// Returns any JSON, as tools of other systems do.
#[tool]
async fn raw(
    /// The JSON text to return.
    json: String,
) -> Result<Value, ToolError> {
    Ok(serde_json::from_str(&json)?)
}

/// Returns a value that cannot be written as JSON.
#[tool]
async fn unwritable() -> Result<std::collections::BTreeMap<Option<u8>, u8>, ToolError> {
    Ok([(None, 3)].into())
}

fn tools() -> Toolset {
    Registry::builder()
        .tool::<survey>()
        .tool::<read_pages>()
        .tool::<no_final>()
        .tool::<two_finals>()
        .tool::<late_stream>()
        .tool::<chart>()
        .tool::<steps>()
        .tool::<chatter>()
        .tool::<raw>()
        .tool::<unwritable>()
        .build()
        .unwrap()
        .open()
}

fn context() -> (Counts, ToolContext) {
    let counts = Counts::default();
    (counts.clone(), ToolContext::builder().with(counts).build())
}

async fn raw_result(json: &str) -> CallResult {
    let (_, cx) = context();
    tools()
        .call(
            ToolCall::new("c1", "raw", json!({ "json": json }).to_string()),
            &cx,
        )
        .await
}

/// Runs a call as a stream and returns its progress texts and its result.
async fn follow(name: &str, arguments: Value, cx: &ToolContext) -> (Vec<String>, CallResult) {
    let mut events: Vec<ToolEvent> = tools()
        .stream(ToolCall::new("c1", name, arguments.to_string()), cx)
        .collect()
        .await;
    let Some(ToolEvent::Done(result)) = events.pop() else {
        panic!("the last event is not `Done`")
    };
    let mut events = events.into_iter();
    assert!(matches!(events.next(), Some(ToolEvent::Started)));
    let progress = events.map(|event| match event {
        ToolEvent::Progress(json) => json.get().to_owned(),
        other => panic!("{other:?} between `Started` and `Done`"),
    });
    (progress.collect(), result)
}

// S2-05, S2-27: the client gets the whole output and the citations; the model gets only the short text, which is made once.
#[tokio::test]
async fn model_reads_the_model_view() {
    let (counts, cx) = context();
    let result = tools().call(ToolCall::new("c1", "survey", "{}"), &cx).await;
    assert_eq!(result.model_text(), "two pages");
    assert_eq!(result.model_text(), "two pages");
    assert_eq!(counts.views.load(Ordering::SeqCst), 1);
    let output: Value = serde_json::from_str(result.output().unwrap().get()).unwrap();
    assert_eq!(
        output,
        json!({"report": {"summary": "two pages", "pages": ["first", "second"]}})
    );
    let citation = &result.citations()[0];
    assert_eq!(
        serde_json::to_value(citation).unwrap(),
        json!({"source": "handbook", "sourceId": "onboarding.md", "version": "7", "retrievedAt": "2026-03-01T09:30:00Z"})
    );
}

// S2-27: a host reads the source, the id and the version of a citation; the version is present only if it was set.
#[test]
fn citation_has_its_version() {
    let page = Citation::new("handbook", "onboarding.md");
    assert_eq!(page.version_text(), None);
    let page = page.version("7");
    assert_eq!(
        (page.source(), page.source_id()),
        ("handbook", "onboarding.md")
    );
    assert_eq!(page.version_text(), Some("7"));
}

// S2-27: an invalid time is refused, when it is set and when it is deserialized.
#[test]
fn citation_needs_a_valid_time() {
    for time in [
        "yesterday",
        "2026-03-01",
        "2026-13-01T00:00:00Z",
        "2026-03-01T09:30:00",
    ] {
        assert!(
            Citation::new("s", "i").retrieved_at(time).is_err(),
            "{time}"
        );
        let json = json!({"source": "s", "sourceId": "i", "retrievedAt": time});
        assert!(serde_json::from_value::<Citation>(json).is_err(), "{time}");
    }
    let now = Citation::new("s", "i");
    assert!(
        Citation::new("s", "i")
            .retrieved_at(now.retrieved_at_text())
            .is_ok(),
        "{}",
        now.retrieved_at_text()
    );
    let day = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_hours(264_384);
    assert_eq!(
        Citation::new("s", "i").retrieved(day).retrieved_at_text(),
        "2000-02-29T00:00:00Z"
    );
}

// S2-05: the model view of an output type applies without an attribute; it has a text and an image as its parts.
#[tokio::test]
async fn output_type_can_define_its_model_view() {
    let (_, cx) = context();
    let result = tools().call(ToolCall::new("c1", "chart", "{}"), &cx).await;
    assert_eq!(result.model_text(), "2 rows\n[image/png]");
    assert_eq!(result.model_output().unwrap().to_parts().len(), 2);
    assert_eq!(result.output().unwrap().get(), r#"{"rows":[1,2]}"#);
}

// S2-05: without a view, a JSON string is sent as text, and every other value as JSON.
#[tokio::test]
async fn string_outputs_are_sent_as_text() {
    assert_eq!(raw_result(r#""a \"b\"""#).await.model_text(), r#"a "b""#);
    assert_eq!(
        raw_result(r#"{"a":["x"]}"#).await.model_text(),
        r#"{"a":["x"]}"#
    );
}

// S2-21, S2-22: the client gets progress in order, and the model gets only the final value, whose view is made once.
#[tokio::test]
async fn generator_sends_progress_in_order_and_one_final_value() {
    let (counts, cx) = context();
    let (progress, result) = follow("read_pages", json!({"pages": 3}), &cx).await;
    assert_eq!(progress, ["1", "2", "3"]);
    assert_eq!(result.model_text(), "3 pages");
    assert!(result.output().unwrap().get().contains("second"));
    assert_eq!(counts.views.load(Ordering::SeqCst), 1);
    // The result is the same without a listener.
    let result = tools()
        .call(ToolCall::new("c1", "read_pages", r#"{"pages":2}"#), &cx)
        .await;
    assert_eq!(result.model_text(), "2 pages");
}

// S2-21: a tool is at most one step ahead of its reader, so the steps of a stream that never waits do not accumulate.
#[tokio::test]
async fn progress_waits_for_its_reader() {
    let (counts, cx) = context();
    let call = ToolCall::new("c1", "read_pages", r#"{"pages":1000}"#);
    let mut events = Box::pin(tools().stream(call, &cx));
    assert!(matches!(events.next().await, Some(ToolEvent::Started)));
    assert_eq!(
        counts.steps.load(Ordering::SeqCst),
        0,
        "the body does not run before its progress is read"
    );
    for n in 1..=5 {
        assert!(matches!(events.next().await, Some(ToolEvent::Progress(_))));
        assert!(counts.steps.load(Ordering::SeqCst) <= n + 1);
    }
    drop(events);
    assert!(
        counts.steps.load(Ordering::SeqCst) <= 6,
        "a dropped stream stops the tool"
    );
}

// Steps do not accumulate in a call that runs in its own task, either.
#[tokio::test]
async fn progress_of_an_audited_call_waits_for_its_reader() {
    let (counts, cx) = context();
    let gate = Gate::builder()
        .audit(Audit::required(MemoryStore::default()))
        .build();
    let call = ToolCall::new("c1", "read_pages", r#"{"pages":1000}"#);
    let mut events = Box::pin(tools().through(&gate).stream(call, &cx));
    assert!(matches!(events.next().await, Some(ToolEvent::Started)));
    for n in 1..=5 {
        assert!(matches!(events.next().await, Some(ToolEvent::Progress(_))));
        // The task of the call runs until it waits.
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
        assert!(counts.steps.load(Ordering::SeqCst) <= n + 1);
    }
    let more: Vec<_> = events.collect().await;
    assert_eq!(more.len(), 996, "no step is lost");
}

// Progress that a tool reports without waiting is stored up to a number and a size; a late reader gets the newest values.
#[tokio::test]
async fn unread_progress_is_bounded() {
    let (_, cx) = context();
    for (times, size, kept) in [(200, 10, 200), (5_000, 10, 256), (100, 60_000, 17)] {
        let arguments = json!({"times": times, "size": size});
        let (progress, result) = follow("chatter", arguments, &cx).await;
        assert_eq!(result.model_text(), "done");
        assert_eq!(progress.len(), kept);
        let last = progress.last().map(|step| step.trim_matches('"').trim());
        assert_eq!(last, Some((times - 1).to_string().as_str()));
    }
}

// S2-21: a stream that ends with an error or without a final value fails the call, and no stream is read after its final value.
#[tokio::test]
async fn stream_ends_exactly_once() {
    let (counts, cx) = context();
    let (progress, result) = follow("read_pages", json!({"pages": 13}), &cx).await;
    assert_eq!(
        (progress.len(), result.model_text().as_str()),
        (13, "the thirteenth page is missing")
    );

    let (progress, result) = follow("no_final", json!({}), &cx).await;
    assert_eq!(progress, ["1", "2"]);
    assert_eq!(result.error().map(ToolError::kind), Some(ErrorKind::Failed));
    assert_eq!(result.model_text(), "the tool ended without a result");

    counts.steps.store(0, Ordering::SeqCst);
    let (_, result) = follow("two_finals", json!({}), &cx).await;
    assert_eq!(result.model_text(), "one");
    assert_eq!(
        counts.steps.load(Ordering::SeqCst),
        1,
        "the stream is not read after its final value"
    );

    let (_, result) = follow("late_stream", json!({}), &cx).await;
    assert_eq!(result.model_text(), "no stream today");
}

// S2-21: an ordinary tool may report progress too.
#[tokio::test]
async fn ordinary_tool_reports_progress() {
    let (_, cx) = context();
    let (progress, result) = follow("steps", json!({}), &cx).await;
    assert_eq!(progress, [r#"{"step":"fetch"}"#, r#"{"step":"read"}"#]);
    assert_eq!(result.model_text(), "done");
}

// S2-21: a refused call has no `Started` event.
#[tokio::test]
async fn refused_call_emits_only_done() {
    let (_, cx) = context();
    for (name, arguments) in [("nowhere", "{}"), ("raw", "{}")] {
        let events: Vec<ToolEvent> = tools()
            .stream(ToolCall::new("c1", name, arguments), &cx)
            .collect()
            .await;
        assert!(matches!(events.as_slice(), [ToolEvent::Done(result)] if result.is_error()));
    }
}

// S1-66, S1-67, S0-22: every payload and every error has the same envelope.
#[tokio::test]
async fn payloads_and_errors_have_the_same_envelope() {
    assert_eq!(
        raw_result(r#"{"b":1,"a":[2]}"#).await.envelope(),
        r#"{"success":true,"a":[2],"b":1}"#
    );
    assert_eq!(
        raw_result("[1,2]").await.envelope(),
        r#"{"success":true,"result":[1,2]}"#
    );
    assert_eq!(
        raw_result("null").await.envelope(),
        r#"{"success":true,"result":null}"#
    );
    assert_eq!(
        raw_result(r#"{"success":false}"#).await.envelope(),
        r#"{"success":true,"result":{"success":false}}"#
    );
    let (_, cx) = context();
    let failed = tools()
        .call(ToolCall::new("c1", "no\"where", "{}"), &cx)
        .await;
    let envelope: Value = serde_json::from_str(&failed.envelope()).unwrap();
    assert_eq!(
        envelope,
        json!({"success": false, "error": "there is no tool `no\"where`"})
    );
}

// S1-67: an error in the bare form of other systems is recognised as a failure.
#[tokio::test]
async fn bare_error_object_is_recognised_as_a_failure() {
    for json in [
        r#"{"error":"no such row"}"#,
        r#"{"success":false,"error":"no such row"}"#,
    ] {
        let result = raw_result(json).await.bare_error();
        assert!(result.is_error());
        assert_eq!(
            result.envelope(),
            r#"{"success":false,"error":"no such row"}"#
        );
    }
    for json in [
        r#"{"error":"x","rows":1}"#,
        r#"{"success":true,"error":"x"}"#,
        r#"{"error":null}"#,
    ] {
        assert!(!raw_result(json).await.bare_error().is_error(), "{json}");
    }
}

// S0-23: an output that cannot be written as JSON becomes an error result.
#[tokio::test]
async fn unwritable_output_is_an_error_result() {
    let (_, cx) = context();
    let result = tools()
        .call(ToolCall::new("c1", "unwritable", "{}"), &cx)
        .await;
    assert_eq!(result.error().map(ToolError::kind), Some(ErrorKind::Failed));
    assert!(result.error().unwrap().operator_text().contains("JSON"));
}

/// Returns the mean of some numbers.
#[tool]
fn mean(
    /// The numbers to average.
    values: Vec<f64>,
) -> Mean {
    let count = f64::from(u32::try_from(values.len()).unwrap_or(u32::MAX));
    Mean {
        of: vec![values.iter().sum::<f64>() / count],
    }
}

/// The result of `mean`.
#[derive(Serialize, StrictSchema)]
struct Mean {
    /// The mean, as a list of one number.
    of: Vec<f64>,
}

// A NaN float fails the call, because JSON has no such number and the tool's output schema refuses null.
#[tokio::test]
async fn non_finite_float_fails_the_call() {
    let cx = ToolContext::anonymous();
    let call = |values: &str| ToolCall::new("1", "mean", format!(r#"{{"values":{values}}}"#));
    let good = toolset![mean].call(call("[1.0,2.0]"), &cx).await;
    assert_eq!(good.model_text(), r#"{"of":[1.5]}"#);
    let bad = toolset![mean].call(call("[]"), &cx).await;
    let text = bad.error().unwrap().model_text();
    assert!(
        text.contains("`/of/0` of the result is not a finite number"),
        "{text}"
    );
    assert!(bad.output().is_none());
}

/// An error type with some variants that are shown to the model.
#[derive(Debug, ToolError)]
enum ShopError {
    #[shown]
    Unknown {
        order: u32,
    },
    #[shown]
    Closed,
    Database(std::io::Error),
    #[shown]
    Refused(std::io::Error),
}

impl std::fmt::Display for ShopError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unknown { order } => write!(f, "there is no order {order}"),
            Self::Closed => f.write_str("the shop is closed"),
            Self::Database(_) => f.write_str("the database failed"),
            Self::Refused(_) => f.write_str("the bank refused"),
        }
    }
}

impl std::error::Error for ShopError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Database(cause) | Self::Refused(cause) => Some(cause),
            _ => None,
        }
    }
}

/// An error type that is always shown to the model.
#[derive(Debug, ToolError)]
#[shown]
struct Full {
    seats: u32,
}

impl std::fmt::Display for Full {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "all {} seats are taken", self.seats)
    }
}

impl std::error::Error for Full {}

/// Fails in the selected way.
#[tool]
async fn order(
    /// The number of the failure.
    way: u8,
) -> Result<String, ShopError> {
    let cause = || std::io::Error::other("password=x");
    Err(match way {
        0 => ShopError::Unknown { order: 7 },
        1 => ShopError::Closed,
        2 => ShopError::Database(cause()),
        _ => ShopError::Refused(cause()),
    })
}

// A user's error type decides for each variant whether the model reads its text
#[tokio::test]
async fn error_type_selects_errors_shown_to_the_model() {
    for (way, shown) in [
        (0, Some("there is no order 7")),
        (1, Some("the shop is closed")),
        (2, None),
        (3, Some("the bank refused")),
    ] {
        let call = ToolCall::new("1", "order", format!(r#"{{"way":{way}}}"#));
        let result = toolset![order].call(call, &ToolContext::anonymous()).await;
        let error = result.error().unwrap();
        assert_eq!(error.kind(), ErrorKind::Failed);
        match shown {
            Some(text) => assert_eq!(error.model_text(), text),
            None => assert!(error.model_text().contains("details are in the host's log")),
        }
        // Only the operator reads causes, and each text occurs once.
        assert!(!error.model_text().contains("password"), "{way}");
        let operator = error.operator_text();
        assert_eq!(operator.contains("password"), way > 1, "{operator}");
        assert_eq!(
            operator.matches("the bank refused").count(),
            usize::from(way == 3)
        );
    }
    assert_eq!(
        ToolError::from(Full { seats: 9 }).model_text(),
        "all 9 seats are taken"
    );
    // Errors of other types are hidden, even if they wrap an error that is shown.
    let other = ToolError::from(std::io::Error::other(ShopError::Closed));
    assert!(!other.model_text().contains("closed"));
}
