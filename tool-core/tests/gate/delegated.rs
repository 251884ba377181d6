//! Runs that a tool drives with the context of its own call.

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::sync::Notify;
use tool_core::prelude::*;
use tool_core::store::{MemoryStore, RunFilter, Scope};
use tool_core::turn::{Model, ModelMessage, ModelRequest, Outcome, Turns};
use tool_core::{CancellationToken, Effect, ErrorKind, Gate};

/// The agent loop inside a tool. Its calls notify `waits` when they wait.
#[derive(Clone)]
struct InnerLoop {
    turns: Turns,
    tools: Toolset,
    waits: Arc<Notify>,
}
tool_core::host_value!(InnerLoop, Effect::READ);

/// Waits until it is cancelled.
#[tool(read_only)]
async fn watch(crew: &InnerLoop) -> u32 {
    crew.waits.notify_one();
    std::future::pending().await
}

/// Runs an inner turn with other tools.
#[tool(read_only)]
async fn delegate(crew: &InnerLoop, cx: &ToolContext) -> String {
    let mut model = Watches;
    let run = crew
        .turns
        .respond("Watch.", &mut model, |_| crew.tools.clone(), cx);
    match run.await {
        Ok(Outcome::Cancelled) => "cancelled".to_owned(),
        other => format!("{other:?}"),
    }
}

struct Watches;

impl Model for Watches {
    fn next<'a>(
        &'a mut self,
        _: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelMessage, ToolError>> {
        let call = ToolCall::new("w", "watch", "{}");
        Box::pin(std::future::ready(Ok(ModelMessage::calls([call]))))
    }
}

/// Returns the result of a call of `delegate`. While a call of the inner run waits, `stop` cancels the
/// run or the turn.
async fn delegated(stop: impl AsyncFnOnce(&Turns, &CancellationToken)) -> CallResult {
    let gate = Gate::builder().build();
    let turns = Turns::new(MemoryStore::default());
    let crew = InnerLoop {
        turns: turns.clone(),
        tools: toolset![watch].through(&gate),
        waits: Arc::default(),
    };
    let (waits, token) = (Arc::clone(&crew.waits), CancellationToken::new());
    let cx = ToolContext::builder()
        .workspace("acme")
        .conversation("main")
        .cancellation(token.clone())
        .with(crew)
        .build();
    let tools = toolset![delegate].through(&gate);
    let stopping = async {
        waits.notified().await;
        stop(&turns, &token).await;
    };
    let call = tools.call(ToolCall::new("d", "delegate", "{}"), &cx);
    let both = async { futures::join!(call, stopping).0 };
    tokio::time::timeout(Duration::from_secs(10), both)
        .await
        .expect("the call ends after its run was cancelled")
}

// Cancelling a run that a tool drives ends the run's current call, and the tool's own call continues.
#[tokio::test]
async fn cancelled_run_of_a_tool_ends_its_calls() {
    let result = delegated(async |turns, _| {
        let all = RunFilter::default();
        let runs = turns.runs(Scope::All, &all).await.unwrap();
        turns.cancel(&runs[0].id).await.unwrap();
    });
    assert_eq!(result.await.model_text(), "cancelled");
}

// Cancelling a turn ends the tool's call and the calls of the run that it drives.
#[tokio::test]
async fn cancelled_turn_ends_the_runs_of_its_tools() {
    let result = delegated(async |_, token| token.cancel()).await;
    let error = result.error().unwrap();
    assert_eq!(error.kind(), ErrorKind::Cancelled);
}
