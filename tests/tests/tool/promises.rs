//! Guarantees for hosts, tested with only the public API and the macros.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use futures::StreamExt;
use tool_core::{DynamicTool, ErrorKind, prelude::*, testing};

async fn call(tools: &Toolset, name: &str, arguments: &str) -> CallResult {
    tools
        .call(
            ToolCall::new("call_1", name, arguments),
            &ToolContext::anonymous(),
        )
        .await
}

/// Fetches a page. The body checks a condition that a schema cannot express.
#[tool]
fn fetch(
    /// The address of the page, which begins with `https://`.
    address: String,
    /// The filters, as JSON text.
    filters: Option<String>,
) -> Result<usize, ToolError> {
    if !address.starts_with("https://") {
        return Err(ToolError::new("`address` begins with `https://`"));
    }
    let filters: serde_json::Value =
        serde_json::from_str(filters.as_deref().unwrap_or("{}")).map_err(ToolError::shown)?;
    Ok(address.len() + filters.as_object().map_or(0, serde_json::Map::len))
}

// S1-31: a condition that the schema cannot express is checked in the body, and its violation is returned as an error value.
#[tokio::test]
async fn condition_outside_the_schema_is_checked_in_the_body() {
    let tools = toolset![fetch];
    let bad = call(&tools, "fetch", r#"{"address":"ftp://example.org"}"#).await;
    assert_eq!(bad.error().map(ToolError::kind), Some(ErrorKind::Failed));
    assert_eq!(bad.model_text(), "`address` begins with `https://`");
    assert_eq!(
        bad.envelope(),
        r#"{"success":false,"error":"`address` begins with `https://`"}"#
    );
    let bad = call(
        &tools,
        "fetch",
        r#"{"address":"https://example.org","filters":"{"}"#,
    )
    .await;
    assert!(
        bad.is_error() && bad.model_text().contains("EOF"),
        "{}",
        bad.model_text()
    );
    assert!(
        !call(
            &tools,
            "fetch",
            r#"{"address":"https://example.org","filters":"{\"a\":1}"}"#
        )
        .await
        .is_error()
    );
}

#[derive(Serialize, StrictSchema)]
struct Step {
    /// The current number.
    at: u32,
}

/// Counts up to a number, and ends in the selected way.
#[tool]
fn count(
    /// The argument `to` of the tool.
    to: u32,
    /// Whether the stream ends with a value.
    ends: bool,
) -> impl futures::Stream<Item = tool_core::StreamItem<Step, String>> {
    use tool_core::StreamItem::{Final, Progress};
    let last = ends.then(|| Final(format!("counted to {to}")));
    let steps = (0..to).map(|at| Progress(Step { at }));
    futures::stream::iter(
        steps
            .chain(last)
            .chain(ends.then_some(Progress(Step { at: 99 }))),
    )
}

// M7, S2-21: a generator has typed progress and exactly one final value.
#[tokio::test]
async fn a_generator_has_typed_progress_and_exactly_one_final_value() {
    let tools = toolset![count];
    let events = |arguments: &str| {
        tools
            .stream(
                ToolCall::new("call_1", "count", arguments),
                &ToolContext::anonymous(),
            )
            .collect::<Vec<_>>()
    };
    let seen = events(r#"{"to":2,"ends":true}"#).await;
    let words: Vec<String> = seen
        .iter()
        .map(|event| match event {
            ToolEvent::Started => "started".to_owned(),
            ToolEvent::Progress(step) => step.get().to_owned(),
            ToolEvent::Done(result) => result.model_text(),
        })
        .collect();
    assert_eq!(
        words,
        ["started", r#"{"at":0}"#, r#"{"at":1}"#, "counted to 2"],
        "the stream has other events than expected"
    );
    let seen = events(r#"{"to":2,"ends":false}"#).await;
    let Some(ToolEvent::Done(result)) = seen.last() else {
        panic!("the stream has no final event")
    };
    assert_eq!(result.error().map(ToolError::kind), Some(ErrorKind::Failed));
    assert!(
        result.model_text().contains("without a result"),
        "the result does not report that the stream ended without one: {}",
        result.model_text()
    );
}

/// Reads a file of the host.
#[tool]
fn peek() -> Result<String, ToolError> {
    Ok(std::fs::read_to_string("/nowhere/with/a-secret-name")?)
}

/// Panics with a text that only the operator may read.
#[tool]
fn break_down() -> Result<String, ToolError> {
    panic!("a-secret-name in a panic")
}

// M9: an error has one text for the model and a different text for the operator.
#[tokio::test]
async fn error_has_separate_texts_for_model_and_operator() {
    let tools = toolset![peek, break_down];
    for (name, kind) in [
        ("peek", ErrorKind::Failed),
        ("break_down", ErrorKind::Panicked),
    ] {
        let result = call(&tools, name, "{}").await;
        let error = result.error().expect("the result is an error");
        assert_eq!(error.kind(), kind);
        for text in [result.model_text(), result.envelope(), format!("{error}")] {
            assert!(
                !text.contains("a-secret-name") && !text.contains("No such file"),
                "{name}: {text}"
            );
        }
        let text = error.operator_text();
        assert!(
            text.contains("a-secret-name") || text.contains("No such file"),
            "{name}: {text}"
        );
    }
    let result = call(&tools, "peek", "{}").await;
    let error = result.error().expect("the result is an error");
    let id = error.audit_id().expect("the text contains an id");
    assert!(result.model_text().contains(&id) && error.operator_text().contains(&id));
}

/// Ticks until it is stopped.
#[tool(timeout = "60ms")]
async fn tick(ticks: &Ticks) -> Result<(), ToolError> {
    struct Stopped(Ticks);
    impl Drop for Stopped {
        fn drop(&mut self) {
            self.0.0.fetch_add(1_000, Ordering::SeqCst);
        }
    }
    let stopped = Stopped(ticks.clone());
    loop {
        stopped.0.0.fetch_add(1, Ordering::SeqCst);
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// A host value that counts the ticks of a tool.
#[derive(Clone, Default)]
struct Ticks(Arc<AtomicU32>);

impl FromContext for Ticks {
    const EFFECT: tool_core::Effect = tool_core::Effect::NONE;

    fn from_context(cx: &ToolContext) -> Result<Self, ToolError> {
        cx.extension().ok_or_else(|| ToolError::new("no ticks"))
    }
}

// M13: after its deadline, a tool is dropped and does not continue.
#[tokio::test]
async fn tool_is_dropped_after_its_deadline() {
    let ticks = Ticks::default();
    let cx = ToolContext::builder().with(ticks.clone()).build();
    let result = toolset![tick]
        .call(ToolCall::new("call_1", "tick", "{}"), &cx)
        .await;
    assert_eq!(
        result.error().map(ToolError::kind),
        Some(ErrorKind::TimedOut)
    );
    let seen = ticks.0.load(Ordering::SeqCst);
    assert!(
        (1_001..1_100).contains(&seen),
        "the tool did not run and stop exactly once: {seen}"
    );
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(ticks.0.load(Ordering::SeqCst), seen, "the tool still runs");
}

#[derive(serde::Deserialize)]
struct Even {
    #[serde(deserialize_with = "even")]
    n: i64,
}
fn even<'de, D: serde::Deserializer<'de>>(input: D) -> Result<i64, D::Error> {
    let n = serde::Deserialize::deserialize(input)?;
    if n % 2 == 0 {
        Ok(n)
    } else {
        Err(serde::de::Error::custom("odd"))
    }
}

// M16, S1-30: the tools of this file are linked and pass the test kit, and the kit reports a tool that refuses valid inputs.
#[test]
fn tools_of_this_file_pass_the_test_kit() {
    let tools = testing::linked();
    for name in ["fetch", "count", "peek", "break_down", "tick"] {
        let def = tools
            .iter()
            .find(|def| def.name() == name)
            .expect("the tool is linked");
        assert!(
            testing::violations(def).is_empty(),
            "{name}: {:?}",
            testing::violations(def)
        );
        assert!(testing::valid_inputs(def, 7, 20).len() <= 20);
    }
    let fetch = tools
        .iter()
        .find(|def| def.name() == "fetch")
        .expect("the tool is linked");
    assert!(
        testing::invalid_inputs(fetch).len() >= 5,
        "the kit generates too few invalid inputs"
    );
    testing::assert_strict_all();
    // The test kit detects that a tool refuses arguments which its schema admits.
    let schema = r#"{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false}"#;
    let body = async |even: Even, _: ToolContext| Ok::<_, ToolError>(even.n);
    let picky = DynamicTool::new("picky", "Takes even numbers.", schema, body);
    let registry = Registry::builder()
        .dynamic(picky)
        .build()
        .expect("the registry is valid");
    let found = testing::violations(registry.get("picky").expect("the registry has the tool"));
    assert!(!found.is_empty(), "the kit reports no violation");
}
