//! Limits that two workers share through one store, like the workers of two processes: each worker has its own runtime, gate and limits.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures::FutureExt as _;
use futures::future::BoxFuture;
use serde_json::json;
use tokio::sync::Barrier;
use tool_agent::agent::Agent;
use tool_agent::model::{Endpoint, HttpModel, Retry};
use tool_agent::runtime::{AgentEntry, AgentRuntime};
use tool_agent::worker::{AgentQueue, Worker};
use tool_core::limits::{Limit, SharedLimits};
use tool_core::prelude::*;
use tool_core::store::{LimitStore, MemoryStore, Role, WorkCause, WorkRow, WorkState};
use tool_core::turn::{Model, ModelMessage, ModelRequest, Turns};
use tool_core::{CancellationToken, Effect, Gate, Toolset};
use tool_store::SqliteStore;

use crate::standin::{StandIn, events};
use crate::support::{Place, cx, on_each_store, thread};

on_each_store! {
    workers_share_a_quota_of_calls => quota;
    workers_share_a_limit_of_concurrent_calls => at_once;
    workers_share_a_quota_of_requests_to_models => requests;
}

/// The length of the window of a quota.
const WINDOW: Duration = Duration::from_millis(700);

/// Longer than these tests, because a thread whose lease expires is driven again, which sends one more request.
const LEASE: Duration = Duration::from_mins(1);

/// The calls of all workers.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Calls>>);

#[derive(Default)]
struct Calls {
    /// The worker and the time of each call.
    began: Vec<(&'static str, Instant)>,
    /// The number of calls that run now, and the most that ran at the same time.
    running: usize,
    most: usize,
}

/// The name of the worker that runs the call.
#[derive(Clone, Copy)]
struct Name(&'static str);

tool_core::host_value!(Log, Effect::WRITE);
tool_core::host_value!(Name, Effect::READ);

/// Sends the report.
#[tool]
async fn send(log: &Log, name: &Name) -> &'static str {
    {
        let mut calls = log.0.lock().unwrap();
        calls.began.push((name.0, Instant::now()));
        calls.running += 1;
        calls.most = calls.most.max(calls.running);
    }
    tokio::time::sleep(Duration::from_millis(50)).await;
    log.0.lock().unwrap().running -= 1;
    "sent"
}

/// A model that calls `send` once in each conversation.
#[derive(Clone)]
struct Sending;

impl Model for Sending {
    fn next<'a>(
        &'a mut self,
        request: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelMessage, ToolError>> {
        let mut messages = request.messages.iter();
        let has_result = messages.any(|message| message.role == Role::Tool);
        let message = if has_result {
            ModelMessage::text("Done.")
        } else {
            ModelMessage::calls([ToolCall::new("c-1", "send", "{}")])
        };
        async { Ok(message) }.boxed()
    }
}

/// A model of a worker whose first request waits for the first request of the other worker, so that both workers take part.
#[derive(Clone)]
struct Together<M> {
    model: M,
    both: Arc<Barrier>,
    has_waited: Arc<AtomicBool>,
}

impl<M: Model> Together<M> {
    fn new(model: M, both: &Arc<Barrier>) -> Self {
        Self {
            model,
            both: Arc::clone(both),
            has_waited: Arc::default(),
        }
    }
}

impl<M: Model + Sync> Model for Together<M> {
    fn next<'a>(
        &'a mut self,
        request: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelMessage, ToolError>> {
        async move {
            if !self.has_waited.swap(true, Ordering::SeqCst) {
                self.both.wait().await;
            }
            self.model.next(request).await
        }
        .boxed()
    }
}

/// Returns a worker with its own handle on the limits of the store.
fn worker<S: Place>(
    store: &S,
    name: &'static str,
    model: impl Model + Clone + Sync + 'static,
    gate: &Gate,
    tools: Toolset,
    log: &Log,
) -> Worker {
    let turns = Turns::new(store.clone()).lease(LEASE);
    let chief = Agent::builder("chief", model).tools(move |_| tools.clone());
    let runtime = AgentRuntime::builder(turns, gate).agent(AgentEntry::new(chief.build().unwrap()));
    let queue = AgentQueue::new(store.clone()).agent("chief", "1");
    let log = log.clone();
    Worker::builder(&runtime.build().unwrap(), &queue)
        .name(name)
        .threads(1)
        .lease(LEASE)
        .poll(Duration::from_millis(10))
        .context(move |row: WorkRow| {
            let cx = cx(row.thread.conversation()).derive();
            let cx = cx.with(log.clone()).with(Name(name)).build();
            async move { Ok(cx) }
        })
        .build()
        .unwrap()
}

fn limits<S: LimitStore + Clone>(store: &S, limit: Limit) -> SharedLimits {
    let limits = SharedLimits::builder(store.clone(), "reports").limit(limit);
    limits.build().unwrap()
}

/// Submits a message to each conversation, and runs the workers until all conversations have ended. Returns the time before the first message.
async fn ended<S: Place>(store: &S, workers: [Worker; 2], conversations: usize) -> Instant {
    let began = Instant::now();
    let queue = AgentQueue::new(store.clone()).agent("chief", "1");
    let names: Vec<String> = (0..conversations).map(|at| format!("c{at}")).collect();
    for name in &names {
        queue.submit("chief", "Go.", &cx(name)).await.unwrap();
    }
    let stop = CancellationToken::new();
    let running = workers.map(|worker| {
        let stop = stop.clone();
        tokio::spawn(async move { worker.run(stop).await })
    });
    for name in &names {
        let row = loop {
            let row = store.work(&thread(name)).await.unwrap().unwrap();
            if row.state == WorkState::Ended {
                break row;
            }
            assert!(began.elapsed() < Duration::from_mins(1), "{row:?}");
            tokio::time::sleep(Duration::from_millis(5)).await;
        };
        // A limit is not a failure: the run was suspended, and no attempt was counted.
        assert_eq!((row.cause, row.attempts), (Some(WorkCause::Done), 0));
    }
    stop.cancel();
    for worker in running {
        worker.await.unwrap();
    }
    began
}

/// Runs a call in each conversation on two workers whose gates have a limit. Returns the calls, and the time before the first one.
async fn sent<S: Place + LimitStore>(
    store: S,
    limit: Limit,
    conversations: usize,
) -> (Calls, Instant) {
    let (log, both) = (Log::default(), Arc::new(Barrier::new(2)));
    let workers = ["one", "two"].map(|name| {
        let gate = Gate::builder().ledger(store.clone());
        let gate = gate.shared_limits(limits(&store, limit.clone())).build();
        worker(
            &store,
            name,
            Together::new(Sending, &both),
            &gate,
            toolset![send],
            &log,
        )
    });
    let began = ended(&store, workers, conversations).await;
    let calls = std::mem::take(&mut *log.0.lock().unwrap());
    assert_eq!(calls.began.len(), conversations);
    (calls, began)
}

// A quota of two workers counts the calls of both together. The seventh call is in the third window.
async fn quota<S: Place + LimitStore>(store: S) {
    let (calls, began) = sent(store, Limit::quota(3, WINDOW), 8).await;
    let names: Vec<&str> = calls.began.iter().map(|(name, _)| *name).collect();
    assert!(
        names.contains(&"one") && names.contains(&"two"),
        "{names:?}"
    );
    assert!(calls.began[6].1 - began >= 2 * WINDOW);
}

// While a call of one worker runs, no call of the other worker begins.
async fn at_once<S: Place + LimitStore>(store: S) {
    let (calls, _) = sent(store, Limit::at_once(1), 4).await;
    assert_eq!(calls.most, 1);
}

// The models of two workers share a quota of requests. The fifth request is in the third window.
async fn requests<S: Place + LimitStore>(store: S) {
    let both = Arc::new(Barrier::new(2));
    let answer = events([
        json!({"choices": [{"index": 0, "delta": {"role": "assistant", "content": "Yes."}}]}),
        json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}),
        json!("[DONE]"),
    ]);
    let server = StandIn::start(vec![answer]).await;
    let workers = ["one", "two"].map(|name| {
        let mut retry = Retry::default();
        (retry.attempts, retry.budget) = (1, Duration::ZERO);
        let model = HttpModel::builder(Endpoint::compatible(&server.url), name)
            .retry(retry)
            .shared_limits(limits(&store, Limit::quota(2, WINDOW)))
            .build()
            .unwrap();
        let gate = Gate::builder().ledger(store.clone()).build();
        let model = Together::new(model, &both);
        worker(&store, name, model, &gate, toolset![], &Log::default())
    });
    let began = ended(&store, workers, 5).await;
    let received = server.received();
    let names: Vec<&str> = received
        .iter()
        .map(|request| request.body["model"].as_str().unwrap())
        .collect();
    assert!(
        names.contains(&"one") && names.contains(&"two"),
        "{names:?}"
    );
    assert_eq!(received.len(), 5);
    assert!(received[4].at - began >= 2 * WINDOW);
}
