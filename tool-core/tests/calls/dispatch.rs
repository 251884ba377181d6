//! Dispatching a call: from the tool's name to the result.

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

use std::future::{Future as _, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use serde_json::{Value, json};
use tool_core::prelude::*;
use tool_core::{CancellationToken, Effect, ErrorKind, Rules};

/// Adds two numbers.
#[tool(read_only)]
async fn add(
    /// The first number to add.
    a: i64,
    /// The second number to add.
    #[arg(default = 10)]
    b: i64,
) -> i64 {
    a + b
}

/// Greets a person in the name of the agent.
#[tool]
async fn greet(
    cx: &ToolContext,
    /// The name of the person.
    name: String,
) -> Result<String, ToolError> {
    Ok(format!(
        "{} greets {name} in call {}",
        cx.agent().unwrap_or("nobody"),
        cx.call_id().unwrap_or("none")
    ))
}

/// Does nothing.
#[tool]
async fn nothing() -> String {
    "nothing".to_owned()
}

/// Fails with its own error, with an error of `std`, or with a panic.
#[tool]
async fn fail(
    /// The kind of failure: `own`, `foreign`, or `panic`.
    how: String,
) -> Result<String, ToolError> {
    match how.as_str() {
        "own" => Err(ToolError::new("the index is being rebuilt")),
        "foreign" => Ok(std::fs::read_to_string("/nowhere/secret-path")?),
        _ => panic!("the wheel came off at /secret-path"),
    }
}

/// Panics in a blocking body.
#[tool]
fn fail_blocking() -> String {
    panic!("sync-secret")
}

#[derive(Clone, Default)]
struct Probe {
    started: Arc<AtomicU32>,
    dropped: Arc<AtomicBool>,
    finished: Arc<AtomicBool>,
    stopped: Arc<AtomicBool>,
}
tool_core::host_value!(Probe, Effect::NONE);

struct OnDrop(Arc<AtomicBool>);
impl Drop for OnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Sleeps for an hour.
#[tool]
async fn sleep(probe: &Probe) -> String {
    probe.started.fetch_add(1, Ordering::SeqCst);
    let _drop = OnDrop(Arc::clone(&probe.dropped));
    tokio::time::sleep(Duration::from_hours(1)).await;
    probe.finished.store(true, Ordering::SeqCst);
    "slept".to_owned()
}

/// Sleeps for an hour, with a timeout of a tenth of a second.
#[tool(timeout = "100ms")]
async fn sleep_short(probe: &Probe) -> String {
    sleep(probe).await
}

/// Blocks until it is cancelled.
#[tool]
fn block(#[context] cx: ToolContext, #[context] probe: Probe) -> String {
    probe.started.fetch_add(1, Ordering::SeqCst);
    while !cx.is_cancelled() {
        std::thread::sleep(Duration::from_millis(2));
    }
    // `is_cancelled` returns true shortly before the timer of the deadline fires.
    std::thread::sleep(Duration::from_millis(100));
    probe.stopped.store(true, Ordering::SeqCst);
    "stopped".to_owned()
}

/// Returns a long text.
#[tool(output_limit = 100)]
async fn long(
    /// The length of the text.
    length: u32,
) -> String {
    "x".repeat(usize::try_from(length).unwrap_or(0))
}

/// Takes a text that the schema admits and serde may refuse.
#[tool]
async fn odd(
    /// A value that serde may refuse.
    picky: Picky,
) -> String {
    drop(picky);
    "odd".to_owned()
}

#[derive(Clone, Debug, PartialEq, StrictSchema)]
struct Picky {
    /// The text to check.
    text: String,
}

impl<'de> Deserialize<'de> for Picky {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Plain {
            text: String,
        }
        let Plain { text } = Plain::deserialize(deserializer)?;
        match text.as_str() {
            "panic" => panic!("a deserialiser that panics"),
            "odd" => Err(serde::de::Error::custom("odd texts are refused")),
            _ => Ok(Self { text }),
        }
    }
}

/// Removes a row; a person has to approve.
#[tool(destructive, approval)]
async fn purge(probe: &Probe) -> String {
    probe.started.fetch_add(1, Ordering::SeqCst);
    "gone".to_owned()
}

/// Sends money; large amounts need an approval.
#[tool(approval = is_much)]
async fn send(
    /// The amount to send.
    amount: u32,
) -> u32 {
    amount
}

fn is_much(input: &send, _: &ToolContext) -> Result<bool, ToolError> {
    match input.amount {
        0 => Err(ToolError::new("the rate is not known")),
        1 => panic!("the rate is not known at all"),
        amount => Ok(amount > 100),
    }
}

fn tools() -> Toolset {
    Registry::builder()
        .tool::<add>()
        .tool::<greet>()
        .tool::<nothing>()
        .tool::<fail>()
        .tool::<fail_blocking>()
        .tool::<sleep>()
        .tool::<sleep_short>()
        .tool::<block>()
        .tool::<long>()
        .tool::<odd>()
        .tool::<purge>()
        .tool::<send>()
        .build()
        .unwrap()
        .open()
}

async fn call(name: &str, arguments: Value) -> CallResult {
    tools()
        .call(
            ToolCall::new("c1", name, arguments.to_string()),
            &ToolContext::anonymous(),
        )
        .await
}

fn kind(result: &CallResult) -> Option<ErrorKind> {
    result.error().map(ToolError::kind)
}

// S0-06, S0-07, S4-61: the body receives parsed values, including the default.
#[tokio::test]
async fn arguments_arrive_typed_and_defaulted() {
    let result = call("add", json!({"a": 1})).await;
    assert_eq!(result.model_text(), "11");
    assert_eq!(result.output().unwrap().get(), "11");
    assert_eq!(
        call("add", json!({"a": 1, "b": null})).await.model_text(),
        "11"
    );
    assert_eq!(call("add", json!({"a": 1, "b": 2})).await.model_text(), "3");
    assert_eq!((result.id(), result.name()), ("c1", "add"));
}

// S0-07, S4-61: the body does not run with wrong arguments, and the result contains the path of each problem.
#[tokio::test]
async fn wrong_arguments_are_a_result_with_every_path() {
    let result = tools()
        .repair(Repair::Off)
        .call(
            ToolCall::new("c1", "add", r#"{"a":"x","b":[],"c":1}"#),
            &ToolContext::anonymous(),
        )
        .await;
    assert_eq!(kind(&result), Some(ErrorKind::InvalidArguments));
    let issues = result.error().unwrap().issues();
    let pointers: Vec<&str> = issues.iter().map(|issue| issue.pointer.as_str()).collect();
    for pointer in ["/a", "/b", "/c"] {
        assert!(pointers.contains(&pointer), "{pointers:?}");
        assert!(
            result.model_text().contains(pointer),
            "{}",
            result.model_text()
        );
    }
}

// S0-08, S4-10: a tool may take the context or leave it out, and need not have parameters.
#[tokio::test]
async fn context_is_optional() {
    let cx = ToolContext::builder().agent("support").build();
    let result = tools()
        .call(ToolCall::new("c7", "greet", r#"{"name":"Ann"}"#), &cx)
        .await;
    assert_eq!(result.model_text(), "support greets Ann in call c7");
    assert_eq!(call("nothing", json!({})).await.model_text(), "nothing");
    // Some providers send an empty text for a call without arguments.
    let result = tools().call(ToolCall::new("c1", "nothing", ""), &cx).await;
    assert_eq!(result.model_text(), "nothing");
}

// S0-22, S0-23: an error becomes a result; the text of a foreign error is shown to the operator only.
#[tokio::test]
async fn errors_have_a_model_text_and_an_operator_text() {
    let own = call("fail", json!({"how": "own"})).await;
    assert_eq!(
        (kind(&own), own.model_text().as_str()),
        (Some(ErrorKind::Failed), "the index is being rebuilt")
    );
    assert!(own.is_error() && own.output().is_none());
    let foreign = call("fail", json!({"how": "foreign"})).await;
    let error = foreign.error().unwrap();
    assert!(
        !foreign.model_text().contains("No such file"),
        "{}",
        foreign.model_text()
    );
    assert!(foreign.model_text().contains(&error.audit_id().unwrap()));
    assert!(error.operator_text().contains("No such file"));
    assert!(error.operator_text().contains(&error.audit_id().unwrap()));
}

// S0-23, S1-68: a panic becomes a result, only the operator reads its message, and the process continues.
#[tokio::test]
async fn panic_is_an_error_result() {
    for (name, arguments, secret) in [
        ("fail", json!({"how": "panic"}), "secret-path"),
        ("fail_blocking", json!({}), "sync-secret"),
        ("odd", json!({"picky": {"text": "panic"}}), "deserialiser"),
    ] {
        let result = call(name, arguments).await;
        assert_eq!(kind(&result), Some(ErrorKind::Panicked), "{name}");
        assert!(
            !result.model_text().contains(secret),
            "{}",
            result.model_text()
        );
        assert!(result.error().unwrap().operator_text().contains(secret));
        assert!(
            result
                .envelope()
                .starts_with(r#"{"success":false,"error":""#)
        );
    }
    assert_eq!(call("add", json!({"a": 1})).await.model_text(), "11");
}

// S0-23: a value that the schema admits and serde refuses is an error about the arguments.
#[tokio::test]
async fn stricter_deserialize_error_is_an_error_result() {
    let result = call("odd", json!({"picky": {"text": "odd"}})).await;
    assert_eq!(kind(&result), Some(ErrorKind::InvalidArguments));
    assert!(
        result.model_text().contains("odd texts are refused"),
        "{}",
        result.model_text()
    );
    assert_eq!(
        call("odd", json!({"picky": {"text": "fine"}}))
            .await
            .model_text(),
        "odd"
    );
}

// S0-23: the error for an unknown name suggests similar names; a call of a hidden tool gets the same error, and the hidden tool is not suggested.
#[tokio::test]
async fn unknown_tool_suggests_similar_names() {
    let result = call("Sleep-Shrot", json!({})).await;
    assert_eq!(kind(&result), Some(ErrorKind::UnknownTool));
    assert_eq!(
        result.model_text(),
        "there is no tool `Sleep-Shrot`, did you mean one of `sleep_short`, `sleep`?"
    );
    assert_eq!(
        call("zzzzzz", json!({})).await.model_text(),
        "there is no tool `zzzzzz`"
    );

    let registry = Registry::builder()
        .tool::<add>()
        .tool::<sleep>()
        .tool::<sleep_short>()
        .build()
        .unwrap();
    let cx = ToolContext::anonymous();
    let tools = registry.toolset(&cx, &Rules::default().deny(["sleep_short"]));
    let hidden = tools
        .call(ToolCall::new("c1", "sleep_short", "{}"), &cx)
        .await;
    let absent = tools
        .call(ToolCall::new("c1", "sleep_shorr", "{}"), &cx)
        .await;
    assert_eq!(kind(&hidden), Some(ErrorKind::UnknownTool));
    assert_eq!(
        hidden.model_text().replace("sleep_short", "X"),
        absent.model_text().replace("sleep_shorr", "X")
    );
    assert!(tools.get("sleep_short").is_none() && tools.names().eq(["add", "sleep"]));
}

// S1-68: the tool's own timeout ends the call, and the tool's future is dropped before the result is returned.
#[tokio::test(start_paused = true)]
async fn a_timeout_stops_the_tool() {
    let probe = Probe::default();
    let cx = ToolContext::builder().with(probe.clone()).build();
    let result = tools()
        .call(ToolCall::new("c1", "sleep_short", "{}"), &cx)
        .await;
    assert_eq!(kind(&result), Some(ErrorKind::TimedOut));
    assert_eq!(probe.started.load(Ordering::SeqCst), 1);
    assert!(probe.dropped.load(Ordering::SeqCst) && !probe.finished.load(Ordering::SeqCst));
    tokio::time::sleep(Duration::from_hours(2)).await;
    assert!(!probe.finished.load(Ordering::SeqCst));
}

// S1-68: the turn's deadline applies to every call, and a call after the deadline does not start.
#[tokio::test(start_paused = true)]
async fn turn_deadline_applies_to_every_call() {
    let probe = Probe::default();
    let cx = ToolContext::builder()
        .with(probe.clone())
        .deadline(Duration::from_secs(5))
        .build();
    let before = tokio::time::Instant::now();
    let result = tools().call(ToolCall::new("c1", "sleep", "{}"), &cx).await;
    assert_eq!(kind(&result), Some(ErrorKind::TimedOut));
    assert_eq!(before.elapsed(), Duration::from_secs(5));
    let late = tools().call(ToolCall::new("c2", "sleep", "{}"), &cx).await;
    assert_eq!(kind(&late), Some(ErrorKind::TimedOut));
    assert_eq!(probe.started.load(Ordering::SeqCst), 1);
}

// S1-68: cancelling the turn drops the running call, and later calls do not start.
#[tokio::test]
async fn cancellation_stops_the_tool() {
    let (probe, token) = (Probe::default(), CancellationToken::new());
    let cx = ToolContext::builder()
        .with(probe.clone())
        .cancellation(token.clone())
        .build();
    let running = tokio::spawn({
        let cx = cx.clone();
        async move { tools().call(ToolCall::new("c1", "sleep", "{}"), &cx).await }
    });
    while probe.started.load(Ordering::SeqCst) == 0 {
        tokio::task::yield_now().await;
    }
    token.cancel();
    let result = running.await.unwrap();
    assert_eq!(kind(&result), Some(ErrorKind::Cancelled));
    assert!(probe.dropped.load(Ordering::SeqCst));
    let late = tools().call(ToolCall::new("c2", "sleep", "{}"), &cx).await;
    assert_eq!(kind(&late), Some(ErrorKind::Cancelled));
    assert_eq!(probe.started.load(Ordering::SeqCst), 1);
}

// S1-68: making a call cancellable adds no poll of its body.
#[tokio::test]
async fn cancellable_call_polls_its_body_once_per_poll() {
    static POLLS: AtomicU32 = AtomicU32::new(0);

    /// Waits twice.
    #[tool(read_only)]
    async fn wait_twice() -> u32 {
        poll_fn(|_| match POLLS.fetch_add(1, Ordering::SeqCst) {
            2 => Poll::Ready(3),
            _ => Poll::Pending,
        })
        .await
    }

    let tools = toolset![wait_twice];
    let cx = ToolContext::builder()
        .cancellation(CancellationToken::new())
        .build();
    let mut call = pin!(tools.call(ToolCall::new("c1", "wait_twice", "{}"), &cx));
    let mut task = Context::from_waker(Waker::noop());
    for polls in 1..=3 {
        let ended = call.as_mut().poll(&mut task).is_ready();
        assert_eq!((POLLS.load(Ordering::SeqCst), ended), (polls, polls == 3));
    }
}

// S1-68: a call whose body ends keeps its result, even if the turn was cancelled in the meantime.
#[tokio::test]
async fn result_is_kept_if_the_body_ends_during_cancellation() {
    /// Cancels the turn and ends, or waits for ever.
    #[tool(read_only)]
    async fn cancel_turn(
        token: &Token,
        /// Whether the tool waits.
        wait: bool,
    ) -> u32 {
        token.0.cancel();
        if wait {
            std::future::pending().await
        } else {
            7
        }
    }

    let tools = toolset![cancel_turn];
    let run = async |arguments: &str| {
        let token = CancellationToken::new();
        let cx = ToolContext::builder()
            .with(Token(token.clone()))
            .cancellation(token)
            .build();
        tools
            .call(ToolCall::new("c1", "cancel_turn", arguments), &cx)
            .await
    };
    assert_eq!(run(r#"{"wait":false}"#).await.model_text(), "7");
    let waits = run(r#"{"wait":true}"#).await;
    assert_eq!(kind(&waits), Some(ErrorKind::Cancelled));
}

/// The turn's own cancellation token.
#[derive(Clone)]
struct Token(CancellationToken);

tool_core::host_value!(Token, Effect::NONE);

// S1-68: blocking code cannot be dropped: its context is cancelled, and the operator reads that it continues in the background.
#[tokio::test(flavor = "multi_thread")]
async fn blocking_code_is_abandoned_after_a_timeout() {
    let probe = Probe::default();
    let cx = ToolContext::builder()
        .with(probe.clone())
        .deadline(Duration::from_millis(50))
        .build();
    let result = tools().call(ToolCall::new("c1", "block", "{}"), &cx).await;
    assert_eq!(kind(&result), Some(ErrorKind::TimedOut));
    assert!(
        result
            .error()
            .unwrap()
            .operator_text()
            .contains("background"),
        "{:?}",
        result.error()
    );
    for _ in 0..500 {
        if probe.stopped.load(Ordering::SeqCst) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    panic!("the blocking code did not observe the cancellation");
}

// S1-68: dropping the call's future drops the tool's future, or cancels the context of its blocking code.
#[tokio::test(flavor = "multi_thread")]
async fn dropping_a_call_stops_its_tool() {
    let probe = Probe::default();
    let cx = ToolContext::builder().with(probe.clone()).build();
    for name in ["sleep", "block"] {
        let tools = tools();
        let call = tools.call(ToolCall::new("c1", name, "{}"), &cx);
        assert!(
            tokio::time::timeout(Duration::from_millis(50), call)
                .await
                .is_err()
        );
    }
    assert!(probe.dropped.load(Ordering::SeqCst));
    for _ in 0..500 {
        if probe.stopped.load(Ordering::SeqCst) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    panic!("the blocking code did not observe that its caller dropped the call");
}

// S0-23: an output beyond its limit is an error that names both sizes.
#[tokio::test]
async fn long_outputs_are_refused() {
    assert!(!call("long", json!({"length": 98})).await.is_error());
    let result = call("long", json!({"length": 99})).await;
    assert_eq!(
        result.model_text(),
        "the output has 101 bytes and at most 100 are allowed, ask for less"
    );
}

// S0-23: a call that was cut off in transit does not run, in any repair mode.
#[tokio::test]
async fn cut_off_calls_do_not_run() {
    let cx = ToolContext::anonymous();
    for text in [r#"{"a": 1"#, r#"{"a": 1, "b""#, r#"{"a": "#, "{", "null{"] {
        for mode in [Repair::Safe, Repair::Off] {
            let result = tools()
                .repair(mode)
                .call(ToolCall::new("c1", "add", text), &cx)
                .await;
            assert_eq!(kind(&result), Some(ErrorKind::InvalidArguments), "{text}");
        }
    }
}

// S0-07: a typed call is subject to the same checks as a call with JSON arguments: panics, timeouts and unknown tools become errors.
#[tokio::test(start_paused = true)]
async fn typed_calls_are_checked_like_other_calls() {
    let cx = ToolContext::anonymous();
    assert_eq!(tools().invoke(add { a: 1, b: 2 }, &cx).await.unwrap(), 3);
    let error = tools()
        .invoke(
            fail {
                how: "panic".to_owned(),
            },
            &cx,
        )
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Panicked);
    let cx = ToolContext::builder().with(Probe::default()).build();
    let error = tools().invoke(sleep_short {}, &cx).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TimedOut);
    let few = Registry::builder()
        .tool::<nothing>()
        .build()
        .unwrap()
        .open();
    let error = few.invoke(add { a: 1, b: 2 }, &cx).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UnknownTool);
}

// S0-23: a call that needs approval waits and does not run; a predicate that fails asks for approval.
#[tokio::test]
async fn call_that_needs_approval_does_not_run() {
    let probe = Probe::default();
    let cx = ToolContext::builder().with(probe.clone()).build();
    let result = tools().call(ToolCall::new("c1", "purge", "{}"), &cx).await;
    assert_eq!(kind(&result), Some(ErrorKind::Pending));
    assert_eq!(probe.started.load(Ordering::SeqCst), 0);
    assert_eq!(
        tools().invoke(purge {}, &cx).await.unwrap_err().kind(),
        ErrorKind::Pending
    );
    for amount in [0, 1, 101] {
        assert_eq!(
            kind(&call("send", json!({"amount": amount})).await),
            Some(ErrorKind::Pending),
            "{amount}"
        );
    }
    assert_eq!(
        call("send", json!({"amount": 100})).await.model_text(),
        "100"
    );
}

// The future of a call is part of the caller's future. Futures are often moved, so the size is limited.
#[test]
fn call_future_has_at_most_2304_bytes() {
    let (tools, cx) = (tools(), ToolContext::anonymous());
    let call = tools.call(ToolCall::new("c1", "add", "{}"), &cx);
    let bytes = std::mem::size_of_val(&call);
    assert!(bytes <= 2_304, "{bytes} bytes");
}
