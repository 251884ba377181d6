//! Shared parts of the tests: replies in the formats of providers, a tool that counts its calls, and a thread.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tool_agent::model::{ApiKey, Endpoint, HttpModel, HttpModelBuilder, ModelEvent, Retry};
use tool_core::prelude::*;
use tool_core::store::{MemoryStore, ThreadStore as _};
use tool_core::turn::{Outcome, TurnError, Turns};
use tool_core::{ToolContext, ToolContextBuilder, Toolset};
use tool_wire::Delta;

use crate::standin::StandIn;

/// The key of every test.
pub(crate) const KEY: &str = "sk-sentinel-0123456789";

/// Counts the calls of [`ping`] in one test.
#[derive(Clone, Default)]
pub(crate) struct Pings(Arc<AtomicUsize>);

tool_core::host_value!(Pings, tool_core::Effect::WRITE);

/// Sends a ping.
#[tool]
fn ping(
    /// The host.
    host: String,
    pings: &Pings,
) -> String {
    pings.0.fetch_add(1, Ordering::Relaxed);
    format!("pong from {host}")
}

pub(crate) fn tools(_: &ToolContext) -> Toolset {
    toolset![ping]
}

/// A conversation with a model.
pub(crate) struct World {
    pub(crate) turns: Turns,
    pub(crate) store: MemoryStore,
    pub(crate) cx: ToolContext,
    pings: Pings,
}

impl World {
    pub(crate) async fn new() -> Self {
        Self::of(ToolContext::builder()).await
    }

    pub(crate) async fn of(builder: ToolContextBuilder) -> Self {
        let (store, pings) = (MemoryStore::default(), Pings::default());
        let builder = builder.workspace("acme").conversation("main");
        let cx = builder.with(pings.clone()).build();
        let turns = Turns::new(store.clone());
        turns.say("Ping the hosts.", &cx).await.unwrap();
        Self {
            turns,
            store,
            cx,
            pings,
        }
    }

    pub(crate) async fn drive(&self, model: &mut HttpModel) -> Result<Outcome, TurnError> {
        self.turns.drive(model, tools, &self.cx).await
    }

    /// Drives the thread to the model's answer.
    pub(crate) async fn answer(&self, model: &mut HttpModel) -> String {
        match self.drive(model).await {
            Ok(Outcome::Answered(text)) => text,
            other => panic!("expected an answer, got {other:?}"),
        }
    }

    /// Drives the thread, and returns the error of the model.
    pub(crate) async fn failure(&self, model: &mut HttpModel) -> tool_agent::model::ModelError {
        match self.drive(model).await {
            Err(TurnError::Model(_)) => model.error().unwrap().clone(),
            other => panic!("expected an error of the model, got {other:?}"),
        }
    }

    /// Returns how often the tool ran.
    pub(crate) fn calls(&self) -> usize {
        self.pings.0.load(Ordering::Relaxed)
    }

    /// Returns the contents of all stored messages.
    pub(crate) async fn stored(&self) -> Vec<String> {
        let thread = self.cx.thread().unwrap();
        let messages = self.store.read(&thread, None).await.unwrap();
        messages
            .into_iter()
            .map(|message| message.content)
            .collect()
    }
}

/// Returns an Anthropic model at the mock provider, with short waits.
pub(crate) fn anthropic(server: &StandIn) -> HttpModelBuilder {
    let endpoint = Endpoint::anthropic(ApiKey::new(KEY)).base_url(&server.url);
    HttpModel::builder(endpoint, "claude").retry(quick())
}

/// Returns a Chat Completions model at the mock provider, with short waits.
pub(crate) fn chat(server: &StandIn) -> HttpModelBuilder {
    HttpModel::builder(Endpoint::compatible(&server.url), "local").retry(quick())
}

/// Returns a setting whose waits take a few milliseconds.
pub(crate) fn quick() -> Retry {
    let mut retry = Retry::default();
    retry.first_wait = Duration::from_millis(2);
    retry
}

/// Records the events of a model, one line for each.
#[derive(Clone, Default)]
pub(crate) struct Events(Arc<Mutex<Vec<String>>>);

impl Events {
    pub(crate) fn of(model: HttpModel) -> (HttpModel, Self) {
        let events = Self::default();
        let log = events.clone();
        let model = model.observe(move |event| log.0.lock().unwrap().push(line(event)));
        (model, events)
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

fn line(event: &ModelEvent<'_>) -> String {
    match event {
        ModelEvent::Request { model, attempt } => format!("request {model} {attempt}"),
        ModelEvent::Delta(Delta::Text(text)) => format!("text {text}"),
        ModelEvent::Delta(Delta::Call { name, .. }) => format!("call {name}"),
        ModelEvent::Delta(_) => "delta".to_owned(),
        ModelEvent::StepRestarted => "restarted".to_owned(),
        ModelEvent::Failed { error, retry_in } => {
            let next = if retry_in.is_some() { "retry" } else { "end" };
            format!("failed {} {next}", error.kind.as_str())
        }
        _ => "other".to_owned(),
    }
}

/// Returns the first event of an Anthropic reply, with 20 input tokens.
pub(crate) fn start() -> Value {
    json!({"type": "message_start", "message": {
        "role": "assistant", "content": [], "usage": {"input_tokens": 20, "output_tokens": 1},
    }})
}

/// Returns a text block of Anthropic.
pub(crate) fn text(index: u64, text: &str) -> Vec<Value> {
    block(
        index,
        &json!({"type": "text", "text": ""}),
        &json!({"type": "text_delta", "text": text}),
    )
}

/// Returns a call of `ping` by Anthropic.
pub(crate) fn call(index: u64, id: &str) -> Vec<Value> {
    block(
        index,
        &json!({"type": "tool_use", "id": id, "name": "ping", "input": {}}),
        &json!({"type": "input_json_delta", "partial_json": "{\"host\":\"a\"}"}),
    )
}

fn block(index: u64, block: &Value, delta: &Value) -> Vec<Value> {
    vec![
        json!({"type": "content_block_start", "index": index, "content_block": block}),
        json!({"type": "content_block_delta", "index": index, "delta": delta}),
        json!({"type": "content_block_stop", "index": index}),
    ]
}

/// Returns the last events of an Anthropic reply.
pub(crate) fn stop(reason: &str) -> Vec<Value> {
    vec![
        json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 7}}),
        json!({"type": "message_stop"}),
    ]
}

/// Returns a complete Anthropic reply of one text.
pub(crate) fn answer(said: &str) -> Vec<Value> {
    [vec![start()], text(0, said), stop("end_turn")].concat()
}

/// Returns an error event of Anthropic.
pub(crate) fn error(kind: &str) -> Value {
    json!({"type": "error", "error": {"type": kind, "message": "the message of the provider"}})
}

/// Returns a complete streamed text of Chat Completions.
pub(crate) fn chat_answer(said: &str) -> Vec<Value> {
    vec![
        json!({"choices": [{"index": 0, "delta": {"role": "assistant", "content": said}}]}),
        json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}),
        json!({"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 3}}),
        json!("[DONE]"),
    ]
}
