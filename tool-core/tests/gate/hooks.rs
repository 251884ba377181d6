//! Tower layers around a permitted run.

use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use futures::future::BoxFuture;
use tool_core::prelude::*;
use tool_core::{ErrorKind, Gate, Permitted, Ran};
use tower::{BoxError, Layer, Service};

use crate::support::{Host, Mailbox, count, kind, pay};

/// A tower layer that records the calls that pass through it.
#[derive(Clone, Default)]
struct Notes(Arc<Mutex<Vec<String>>>, &'static str);

#[derive(Clone)]
struct Noting<S>(S, Notes);

impl<S> Layer<S> for Notes {
    type Service = Noting<S>;
    fn layer(&self, inner: S) -> Noting<S> {
        Noting(inner, self.clone())
    }
}

impl<S> Service<Permitted> for Noting<S>
where
    S: Service<Permitted, Response = Ran, Error = BoxError> + Send,
    S::Future: Send + 'static,
{
    type Response = Ran;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Ran, BoxError>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, permitted: Permitted) -> Self::Future {
        let Notes(notes, name) = self.1.clone();
        notes.lock().unwrap().push(format!(
            "{name}> {} {}",
            permitted.tool().name(),
            permitted.arguments()
        ));
        if permitted.arguments().contains("13") {
            let refused = permitted.refuse(ToolError::of(ErrorKind::Denied, "not thirteen"));
            return Box::pin(std::future::ready(Ok(refused)));
        }
        let run = self.0.call(permitted);
        Box::pin(async move {
            let ran = run.await?;
            notes
                .lock()
                .unwrap()
                .push(format!("<{name} {:?}", ran.output()));
            Ok(ran)
        })
    }
}

#[tokio::test]
async fn the_last_layer_is_the_outermost() {
    let notes = Notes::default();
    let (inner, outer) = (
        Notes(Arc::clone(&notes.0), "inner"),
        Notes(Arc::clone(&notes.0), "outer"),
    );
    let gate = Gate::builder().layer(inner).layer(outer).build();
    let tools = toolset![count].through(&gate);
    let result = tools
        .call(
            ToolCall::new("c-1", "count", r#"{"from":7}"#),
            &ToolContext::anonymous(),
        )
        .await;
    assert_eq!(result.model_text(), "7");
    assert_eq!(
        *notes.0.lock().unwrap(),
        [
            r#"outer> count {"from":7}"#,
            r#"inner> count {"from":7}"#,
            r#"<inner Some("7")"#,
            r#"<outer Some("7")"#
        ]
    );
    let refused = tools
        .call(
            ToolCall::new("c-2", "count", r#"{"from":13}"#),
            &ToolContext::anonymous(),
        )
        .await;
    assert_eq!(
        (kind(&refused), refused.model_text().as_str()),
        (Some(ErrorKind::Denied), "not thirteen")
    );
}

/// Panics if `call` is not preceded by `poll_ready`.
#[derive(Clone)]
struct ReadyCheck<S>(S, bool);

impl<S> Service<Permitted> for ReadyCheck<S>
where
    S: Service<Permitted, Response = Ran, Error = BoxError>,
{
    type Response = Ran;
    type Error = BoxError;
    type Future = S::Future;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.1 = true;
        self.0.poll_ready(cx)
    }

    fn call(&mut self, permitted: Permitted) -> Self::Future {
        assert!(std::mem::take(&mut self.1), "called before it was ready");
        self.0.call(permitted)
    }
}

// The gate calls `poll_ready` of each layer before `call`, as tower requires
#[tokio::test]
async fn each_layer_is_ready_before_it_is_called() {
    let careful = || tower::layer::layer_fn(|inner| ReadyCheck(inner, false));
    let gate = Gate::builder().layer(careful()).layer(careful()).build();
    let tools = toolset![count].through(&gate);
    for id in ["c-1", "c-2"] {
        let call = ToolCall::new(id, "count", r#"{"from":7}"#);
        let result = tools.call(call, &ToolContext::anonymous()).await;
        assert_eq!(result.model_text(), "7");
    }
}

#[tokio::test(start_paused = true)]
async fn tower_layers_work_as_hooks_and_their_errors_are_results() {
    /// Sleeps for a minute.
    #[tool(read_only)]
    async fn slow() -> u8 {
        tokio::time::sleep(Duration::from_mins(1)).await;
        1
    }
    let gate = Gate::builder()
        .layer(tower::timeout::TimeoutLayer::new(Duration::from_secs(1)))
        .build();
    let tools = toolset![slow, count].through(&gate);
    let result = tools
        .call(
            ToolCall::new("c-1", "slow", "{}"),
            &ToolContext::anonymous(),
        )
        .await;
    let error = result.error().unwrap();
    assert_eq!(error.kind(), ErrorKind::Failed);
    assert!(
        error.operator_text().contains("a hook returned an error"),
        "{}",
        error.operator_text()
    );
    assert!(!error.model_text().contains("hook"));
    let fine = tools
        .call(
            ToolCall::new("c-2", "count", r#"{"from":1}"#),
            &ToolContext::anonymous(),
        )
        .await;
    assert_eq!(fine.model_text(), "1");
}

// M6: an effect that a hook interrupts is ambiguous, and the model reads that it may have taken effect
#[tokio::test(start_paused = true)]
async fn effect_interrupted_by_a_hook_is_ambiguous() {
    /// Sends a letter and waits for the receipt.
    #[tool]
    async fn send_slowly(mailbox: &Mailbox) -> u8 {
        mailbox.send();
        tokio::time::sleep(Duration::from_mins(1)).await;
        1
    }
    let host = Host::new();
    let layer = tower::timeout::TimeoutLayer::new(Duration::from_secs(1));
    let gate = Gate::builder()
        .ledger(host.store.clone())
        .layer(layer)
        .build();
    let tools = toolset![send_slowly, pay].through(&gate);
    let call = ToolCall::new("c-1", "send_slowly", "{}");
    let result = tools.call(call, &host.ann()).await;
    assert_eq!(result.error().unwrap().kind(), ErrorKind::Interrupted);
    let text = result.model_text();
    assert!(text.contains("may have taken effect"), "{text}");
    let rows =
        tool_core::store::EffectLedger::list(&host.store, tool_core::store::Scope::All, None)
            .await
            .unwrap();
    assert_eq!(rows[0].state, tool_core::store::EffectState::Ambiguous);
}
