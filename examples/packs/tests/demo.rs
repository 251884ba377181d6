//! The demo tools `log_hello_world` and `slow_count`.
//!
//! This test is a separate program, because it sets the subscriber of the process.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::path::Path;
use std::sync::{Arc, Mutex};

use futures::StreamExt as _;
use futures::future::{BoxFuture, ready};
use tool_core::prelude::*;
use tool_core::turn::{Model, ModelMessage, ModelRequest, Outcome, Turns};
use tool_core::{ApprovalError, Approvals, Audit, Gate, KeyRing, Reply, Ticket};
use tool_std::demo::{log_hello_world, slow_count};
use tool_store::SqliteStore;
use tracing::field::{Field, Visit};
use tracing_subscriber::layer::{Context, Layer};
use tracing_subscriber::prelude::*;

/// A list of texts. As a tracing layer, it collects the greetings that the demo tools log.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

impl Visit for Log {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "greeting" {
            self.0.lock().unwrap().push(value.to_owned());
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn std::fmt::Debug) {}
}

impl<S: tracing::Subscriber> Layer<S> for Log {
    fn on_event(&self, event: &tracing::Event<'_>, _: Context<'_, S>) {
        if event.metadata().target() == "tool_std::demo" {
            event.record(&mut self.clone());
        }
    }
}

/// A model that greets twice in one message, and ends the turn after it has read both results.
struct Greeter;

impl Model for Greeter {
    fn next<'a>(
        &'a mut self,
        request: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelMessage, ToolError>> {
        let greet = |id, message| {
            let arguments = format!(r#"{{"message":"{message}"}}"#);
            ToolCall::new(id, "log_hello_world", arguments)
        };
        let message = match request.step {
            1 => ModelMessage::calls([greet("c-1", "Hello, moon"), greet("c-2", "Hello, sun")]),
            _ => ModelMessage::text("done"),
        };
        Box::pin(ready(Ok(message)))
    }
}

/// The objects that a process creates when it starts.
struct Host {
    tools: Toolset,
    turns: Turns,
    gate: Gate,
    cx: ToolContext,
    /// The results that the model has read.
    heard: Log,
}

impl Host {
    async fn start(file: &Path) -> Self {
        let store = SqliteStore::open(file).await.unwrap();
        let keys = KeyRing::new("k-1", *b"thirty-two bytes of randomness!!").unwrap();
        let approvals = Approvals::builder(store.clone()).keys(keys);
        let gate = Gate::builder()
            .approvals(approvals.build().unwrap())
            .ledger(store.clone())
            .audit(Audit::required(store.clone()))
            .build();
        let cx = ToolContext::builder()
            .workspace("acme")
            .user("ann")
            .conversation("th-1");
        let heard = Log::default();
        let says = heard.clone();
        Self {
            tools: toolset![log_hello_world].through(&gate),
            turns: Turns::new(store)
                .observe(move |result| says.0.lock().unwrap().push(result.text.clone())),
            heard,
            gate,
            cx: cx.build(),
        }
    }

    async fn drive(&self) -> Outcome {
        let tools = |_: &ToolContext| self.tools.clone();
        let outcome = self.turns.drive(&mut Greeter, tools, &self.cx).await;
        outcome.unwrap()
    }

    async fn waiting(&self) -> Vec<Ticket> {
        match self.drive().await {
            Outcome::Waiting(tickets) => tickets,
            outcome => panic!("{outcome:?}"),
        }
    }

    async fn answer(
        &self,
        token: &str,
        reply: Reply,
        why: Option<&str>,
    ) -> Result<(), ApprovalError> {
        let approvals = self.gate.approvals().unwrap();
        let workspace = self.cx.own_workspace();
        let answered = approvals.answer(&workspace, &self.tools, token, reply, "bob", why);
        answered.await.map(drop)
    }
}

// S2-44: a greeting needs an approval. The test covers all steps from the request to the answer: S2-12, S2-13, S2-14, S2-15, S2-16 and S2-17.
#[tokio::test]
async fn greeting_is_logged_only_after_approval() {
    let log = Log::default();
    // The subscriber is installed for all threads, because a synchronous tool runs on a separate thread.
    tracing_subscriber::registry().with(log.clone()).init();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("state.db");

    // Both calls wait, and nothing has been logged.
    let host = Host::start(&file).await;
    let tickets = host.waiting().await;
    let asked: Vec<_> = tickets.iter().map(|t| t.arguments.as_str()).collect();
    assert_eq!(
        asked,
        [
            r#"{"message":"Hello, moon"}"#,
            r#"{"message":"Hello, sun"}"#
        ]
    );
    assert_eq!(log.lines(), [""; 0]);

    // An unknown approval is an error, and an approval with a changed token is an error too.
    assert!(host.answer("unknown", Reply::Approve, None).await.is_err());
    let forged = tickets[0].token.replace(['a', 'e'], "i");
    assert!(host.answer(&forged, Reply::Approve, None).await.is_err());

    // After the first of two answers, the turn waits for the second. The first call runs once, and its approval cannot be answered again.
    let (moon, sun) = (&tickets[0].token, &tickets[1].token);
    host.answer(moon, Reply::Approve, None).await.unwrap();
    assert!(host.answer(moon, Reply::Approve, None).await.is_err());
    assert_eq!(host.waiting().await.len(), 1);
    assert_eq!(host.heard.lines(), [r#"{"logged":true}"#]);

    // The process restarts, and the same turn continues with a denial.
    let host = Host::start(&file).await;
    assert_eq!(host.waiting().await.len(), 1);
    let no = host.answer(sun, Reply::Deny, Some("the sun is too hot"));
    no.await.unwrap();
    let outcome = host.drive().await;
    assert!(
        matches!(&outcome, Outcome::Answered(word) if word == "done"),
        "{outcome:?}"
    );
    assert_eq!(log.lines(), ["Hello, moon"]);

    assert_eq!(
        host.heard.lines(),
        ["a person has denied the call: the sun is too hot"]
    );
}

// S2-21: progress contains every number, and the final value is the last number.
#[tokio::test(start_paused = true)]
async fn slow_count_reports_every_number_and_returns_the_last() {
    let tools = Registry::builder()
        .tool::<slow_count>()
        .build()
        .unwrap()
        .open();
    let call = ToolCall::new("1", "slow_count", r#"{"to": 3}"#);
    let cx = ToolContext::anonymous();
    let began = tokio::time::Instant::now();
    let events: Vec<_> = tools.stream(call, &cx).collect().await;
    let numbers: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            ToolEvent::Progress(value) => Some(value.get().to_owned()),
            _ => None,
        })
        .collect();
    assert_eq!(
        numbers,
        [r#"{"count":1}"#, r#"{"count":2}"#, r#"{"count":3}"#]
    );
    let Some(ToolEvent::Done(result)) = events.last() else {
        panic!("{events:?}")
    };
    assert_eq!(result.model_text(), r#"{"count":3}"#);
    assert_eq!(began.elapsed().as_secs(), 3);
}
