//! Runs that are suspended until the end of a wait that a provider requested, on the stores in memory and on SQLite.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::json;
use tool_agent::agent::Agent;
use tool_agent::model::{Endpoint, HttpModel, Retry};
use tool_agent::runtime::{AgentEntry, AgentRuntime, PromptTool, Session, Subagent};
use tool_agent::worker::{AgentQueue, Worker};
use tool_core::prelude::*;
use tool_core::store::{
    ChildFilter, ChildState, MemoryStore, RunCause, RunFilter, Scope, WorkCause, WorkRow, WorkState,
};
use tool_core::turn::{ModelMessage, Turns};
use tool_core::{CancellationToken, ErrorKind, Gate};
use tool_store::SqliteStore;

use crate::standin::{Act, StandIn, events, json_response};
use crate::support::{LEASE, Place, Replies, cx, on_each_store, thread};

/// The wait that the providers of the tests request.
const WAIT: Duration = Duration::from_millis(400);

on_each_store! {
    run_is_queued_for_the_end_of_the_wait => suspended;
    attempts_without_a_long_wait_are_counted => counted;
    wait_of_a_subagent_suspends_the_tree => tree;
    wait_of_a_prompt_suspends_the_tree => prompt;
    wait_of_a_subagent_in_the_background_is_not_waited_for => background;
    wait_of_a_partner_suspends_the_tree => partner;
}

/// Returns an error of a model whose provider requests [`WAIT`].
fn limited() -> ToolError {
    ToolError::of(ErrorKind::Pending, "the model is limited").retry_after(WAIT)
}

/// Returns a model whose first request exceeds a rate limit. It then replies with a text, and records the times of its requests.
fn limited_once(text: &'static str) -> (Replies, Arc<Mutex<Vec<Instant>>>) {
    let times = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&times);
    let model = Replies::new(move |number| {
        log.lock().unwrap().push(Instant::now());
        async move {
            match number {
                0 => Err(limited()),
                _ => Ok(ModelMessage::text(text)),
            }
        }
    });
    (model, times)
}

/// Asserts that the second request was sent after the end of the wait.
fn assert_waited(times: &Mutex<Vec<Instant>>) {
    let times = times.lock().unwrap();
    assert_eq!(times.len(), 2);
    assert!(times[1] - times[0] >= WAIT, "{:?}", times[1] - times[0]);
}

struct Host<S> {
    store: S,
    queue: AgentQueue,
    worker: Worker,
}

impl<S: Place> Host<S> {
    fn new(store: S, entries: impl IntoIterator<Item = AgentEntry>) -> Self {
        let queue = AgentQueue::new(store.clone()).agent("chief", "1");
        let turns = Turns::new(store.clone()).lease(LEASE);
        let gate = Gate::builder().ledger(store.clone()).build();
        let mut runtime = AgentRuntime::builder(turns, &gate).children(store.clone());
        for entry in entries {
            runtime = runtime.agent(entry);
        }
        // Each worker drives one thread at a time.
        let worker = Worker::builder(&runtime.build().unwrap(), &queue)
            .threads(1)
            .lease(LEASE)
            .poll(Duration::from_millis(10))
            .retry(Duration::from_millis(5));
        Self {
            worker: worker.build().unwrap(),
            queue,
            store,
        }
    }

    /// Submits a message and runs the worker until it is idle. A suspended run does not keep the worker busy.
    async fn begun(&self) -> WorkRow {
        let cx = cx("main");
        self.queue.submit("chief", "Go.", &cx).await.unwrap();
        self.worker.run_until_idle().await;
        self.row().await
    }

    async fn row(&self) -> WorkRow {
        self.store.work(&thread("main")).await.unwrap().unwrap()
    }

    /// Runs the worker until the thread has ended.
    async fn ended(&self) -> WorkRow {
        let stop = CancellationToken::new();
        let (worker, until) = (self.worker.clone(), stop.clone());
        let running = tokio::spawn(async move { worker.run(until).await });
        let mut row = self.row().await;
        for _ in 0..2000 {
            if row.state == WorkState::Ended {
                break;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
            row = self.row().await;
        }
        stop.cancel();
        running.await.unwrap();
        row
    }

    /// Returns the roles of the messages of the conversation.
    async fn roles(&self) -> String {
        let turns = Turns::new(self.store.clone());
        let messages = turns.messages(&cx("main"), None).await.unwrap();
        let roles = messages.iter().map(|message| message.role.as_str());
        roles.collect::<Vec<_>>().join(" ")
    }

    async fn causes(&self) -> Vec<Option<RunCause>> {
        let filter = RunFilter {
            conversation: Some("main".to_owned()),
            ..RunFilter::default()
        };
        let mut runs = self.store.list_runs(Scope::All, &filter).await.unwrap();
        runs.sort_by_key(|run| run.id.number());
        runs.into_iter().map(|run| run.cause).collect()
    }
}

/// Asserts that a thread is queued for the end of the wait, and that no attempt was counted.
fn assert_suspended(row: &WorkRow) {
    assert_eq!((row.state, row.attempts), (WorkState::Queued, 0));
    let ready = row.ready.unwrap().as_millis();
    let asked = i64::try_from(WAIT.as_millis()).unwrap();
    // The wait had begun when the row was released.
    assert!(ready > row.created.as_millis() + asked, "{row:?}");
}

fn entry(name: &str, model: impl tool_core::turn::Model + Clone + Sync + 'static) -> AgentEntry {
    AgentEntry::new(Agent::builder(name, model).build().unwrap())
}

/// Returns the entry of an agent that other agents can call.
fn exposed(model: &Replies) -> AgentEntry {
    entry("researcher", model.clone())
        .autonomous()
        .expose("Researches a question.")
}

/// Returns a model that calls the agent `researcher`, and then replies with a text.
fn calling(text: &'static str) -> Replies {
    Replies::new(move |number| async move {
        Ok(match number {
            0 => ModelMessage::calls([ToolCall::new("c-1", "researcher", r#"{"message":"Go."}"#)]),
            _ => ModelMessage::text(text),
        })
    })
}

fn answer() -> Vec<Act> {
    events([
        json!({"choices": [{"index": 0, "delta": {"role": "assistant", "content": "Yes."}}]}),
        json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}),
        json!("[DONE]"),
    ])
}

/// Returns a model at a mock provider, with one attempt for each step and this budget for waits.
fn model_at(server: &StandIn, budget: Duration) -> HttpModel {
    let mut retry = Retry::default();
    (retry.attempts, retry.budget) = (1, budget);
    let builder = HttpModel::builder(Endpoint::compatible(&server.url), "local");
    builder.retry(retry).build().unwrap()
}

// If a provider requests a wait above the budget, the run neither fails nor blocks its worker, and the next request is not sent too early.
async fn suspended<S: Place>(store: S) {
    let refused = json_response(429, &[("retry-after-ms", "400")], &json!({}));
    let server = StandIn::start(vec![refused, answer()]).await;
    let host = Host::new(store, [entry("chief", model_at(&server, Duration::ZERO))]);
    assert_suspended(&host.begun().await);
    assert_eq!(server.received().len(), 1);
    assert_eq!(host.causes().await, [Some(RunCause::Waiting)]);

    // A message that arrives during the wait queues the thread, but no request is sent before the end of the wait.
    host.queue
        .submit("chief", "Hurry.", &cx("main"))
        .await
        .unwrap();
    let row = host.ended().await;
    assert_eq!((row.cause, row.attempts), (Some(WorkCause::Done), 0));
    let received = server.received();
    assert_eq!(received.len(), 2);
    assert!(received[1].at - received[0].at >= WAIT);
    assert_eq!(host.roles().await, "user user assistant");
    assert_eq!(host.causes().await.last(), Some(&Some(RunCause::Replied)));
}

// A wait within the budget does not suspend the run: the attempt counts, and the next attempt respects the wait.
async fn counted<S: Place>(store: S) {
    let refused = json_response(429, &[("retry-after-ms", "400")], &json!({}));
    let server = StandIn::start(vec![refused, answer()]).await;
    let model = model_at(&server, Duration::from_mins(1));
    let host = Host::new(store, [entry("chief", model)]);
    let row = host.begun().await;
    assert_eq!((row.state, row.attempts), (WorkState::Queued, 1));
    assert_eq!(host.causes().await, [Some(RunCause::Failed)]);
    assert_eq!(host.ended().await.cause, Some(WorkCause::Done));
    let received = server.received();
    assert!(received[1].at - received[0].at >= WAIT);
}

// The call of the sub-agent stays open during the wait, and neither agent repeats a request.
async fn tree<S: Place>(store: S) {
    let (researcher, times) = limited_once("Found.");
    let chief = calling("Done.");
    let host = Host::new(
        store,
        [
            entry("chief", chief.clone()).subagent(Subagent::new("researcher")),
            exposed(&researcher),
        ],
    );
    assert_suspended(&host.begun().await);
    assert_eq!(host.roles().await, "user assistant");
    let filter = ChildFilter::default();
    let children = host.store.children(Scope::All, &filter).await.unwrap();
    assert_eq!(children.len(), 1);
    assert_eq!(children[0].state, ChildState::Running);

    // A message that arrives during the wait continues the call, but sends no request before the end of the wait.
    assert_suspended(&host.begun().await);
    assert_eq!(host.ended().await.cause, Some(WorkCause::Done));
    assert_eq!(host.roles().await, "user assistant user tool assistant");
    assert_eq!(chief.requests(), 2);
    assert_waited(&times);
}

// A prompt, which runs within a call, is suspended in the same way.
async fn prompt<S: Place>(store: S) {
    let (researcher, times) = limited_once("Found.");
    let chief = calling("Done.");
    let host = Host::new(
        store,
        [
            entry("chief", chief.clone()).prompt(PromptTool::new("researcher")),
            exposed(&researcher),
        ],
    );
    assert_suspended(&host.begun().await);
    assert_eq!(host.roles().await, "user assistant");
    assert_eq!(host.ended().await.cause, Some(WorkCause::Done));
    assert_eq!(host.roles().await, "user assistant tool assistant");
    assert_eq!(chief.requests(), 2);
    assert_waited(&times);
}

// The conversation of a sub-agent in the background is queued for the end of the wait. The parent reads the outcome after that.
async fn background<S: Place>(store: S) {
    let (researcher, times) = limited_once("Found.");
    let host = Host::new(
        store,
        [
            entry("chief", calling("Done.")).subagent(Subagent::new("researcher").blocking(false)),
            exposed(&researcher),
        ],
    );
    assert_suspended(&host.begun().await);
    assert_eq!(host.roles().await, "user assistant tool assistant");
    assert_eq!(host.ended().await.cause, Some(WorkCause::Done));
    assert_eq!(
        host.roles().await,
        "user assistant tool assistant user assistant"
    );
    assert_waited(&times);
}

// If the model of a session's partner has to wait, the session does not fail: it asks the partner again at the end of the wait.
async fn partner<S: Place>(store: S) {
    let (partner, times) = limited_once("All of them.");
    let partner = Agent::builder("partner", partner).build().unwrap();
    let researcher = Replies::text("Which fjord?");
    let session = Session::new().partner(partner).most_turns(2);
    let host = Host::new(
        store,
        [
            entry("chief", calling("Done.")).subagent(Subagent::new("researcher")),
            exposed(&researcher).session(session),
        ],
    );
    assert_suspended(&host.begun().await);
    assert_eq!(host.roles().await, "user assistant");
    assert_eq!(host.ended().await.cause, Some(WorkCause::Done));
    assert_eq!(researcher.requests(), 2);
    assert_waited(&times);
}

// Without a worker, a sub-agent in the background continues by itself at the end of the wait.
#[tokio::test]
async fn subagent_in_the_background_continues_without_a_worker() {
    let store = MemoryStore::default();
    let (researcher, times) = limited_once("Found.");
    let gate = Gate::builder().ledger(store.clone()).build();
    let runtime = AgentRuntime::builder(Turns::new(store.clone()), &gate)
        .children(store.clone())
        .agent(
            entry("chief", calling("Done.")).subagent(Subagent::new("researcher").blocking(false)),
        )
        .agent(exposed(&researcher))
        .build()
        .unwrap();
    runtime.respond("chief", "Go.", &cx("main")).await.unwrap();
    runtime.idle().await;
    assert_waited(&times);
    let children = runtime.children(&cx("main")).await.unwrap();
    assert_eq!(children[0].state, ChildState::Terminated);
}
