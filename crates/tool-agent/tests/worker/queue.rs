//! Queues: messages, wake-ups, timers and facts.

use std::time::Duration;

use serde_json::json;
use tool_agent::agent::Agent;
use tool_agent::worker::{AgentQueue, QueueError, Worker, WorkerConfigError};
use tool_core::store::{Timestamp, WorkCause, WorkState, WorkStore as _};
use tool_core::{CancellationToken, ToolContext};

use crate::support::{Host, Replies, cx, thread};

// A message is stored with the row of its thread, with the user and the facts of the caller.
#[tokio::test]
async fn submitted_message_is_stored_with_the_facts_of_its_caller() {
    let host = Host::new();
    let queue = AgentQueue::new(host.store.clone()).agent("chief", "2");
    let queue = queue.facts(|cx| json!({"user": cx.user()}));
    let row = queue.submit("chief", "Go.", &cx("main")).await.unwrap();
    assert_eq!(row.state, WorkState::Queued);
    assert_eq!(row.agent.definition, "2");
    assert_eq!(row.principal.as_deref(), Some("ann"));
    assert_eq!(row.facts.as_deref(), Some(r#"{"user":"ann"}"#));
    assert_eq!(host.counts("main").await, [1, 0, 0]);
}

// A queue refuses agents that it does not have, contexts without a conversation, and messages that a model cannot read. In these cases, it stores nothing.
#[tokio::test]
async fn queue_refuses_what_no_worker_could_drive() {
    let host = Host::new();
    let unknown = host.queue.submit("writer", "Go.", &cx("main")).await;
    assert!(matches!(unknown, Err(QueueError::UnknownAgent(name)) if name == "writer"));
    let bare = ToolContext::builder().workspace("acme").build();
    let unnamed = host.queue.submit("chief", "Go.", &bare).await;
    assert!(matches!(unnamed, Err(QueueError::Unnamed)));
    let parts: [tool_core::Part; 0] = [];
    let empty = host.queue.submit("chief", parts, &cx("main")).await;
    assert!(matches!(empty, Err(QueueError::Message(_))));
    assert_eq!(host.store.work(&thread("main")).await.unwrap(), None);
    assert_eq!(host.counts("main").await, [0, 0, 0]);
}

// `build` refuses a worker that has none of the agents of its queue.
#[tokio::test]
async fn worker_without_agents_is_refused() {
    let host = Host::new();
    let queue = AgentQueue::new(host.store.clone()).agent("writer", "1");
    let runtime = host.runtime(Agent::builder("chief", Replies::text("Yes.")));
    let refused = Worker::builder(&runtime, &queue).build();
    let error = refused.unwrap_err();
    assert!(
        matches!(&error, WorkerConfigError::NoAgents { queue } if queue == "writer"),
        "{error}"
    );
}

// A worker does not claim threads that were queued with a different version of its agent.
#[tokio::test]
async fn thread_of_another_definition_stays_queued() {
    let host = Host::new();
    let other = AgentQueue::new(host.store.clone()).agent("chief", "2");
    other.submit("chief", "Go.", &cx("main")).await.unwrap();
    let model = Replies::text("Yes.");
    host.worker(&model).build().unwrap().run_until_idle().await;
    assert_eq!(
        (host.row("main").await.state, model.requests()),
        (WorkState::Queued, 0)
    );
}

// A timer queues a conversation for a later time. A message queues it at once.
#[tokio::test]
async fn timer_queues_a_conversation_for_a_later_time() {
    let host = Host::new();
    let model = Replies::text("Yes.");
    let worker = host.worker(&model).build().unwrap();
    host.turns().say("Go.", &cx("main")).await.unwrap();
    let later = Timestamp::now().plus(Duration::from_millis(150));
    let row = host
        .queue
        .enqueue_at("chief", later, &cx("main"))
        .await
        .unwrap();
    assert!(row.ready.unwrap() >= later);
    worker.run_until_idle().await;
    assert_eq!(model.requests(), 0);
    tokio::time::sleep(Duration::from_millis(200)).await;
    worker.run_until_idle().await;
    assert_eq!(host.row("main").await.cause, Some(WorkCause::Done));

    let far = Timestamp::now().plus(Duration::from_hours(1));
    assert!(host.queue.wake_at(&thread("main"), far).await.unwrap());
    worker.run_until_idle().await;
    assert_eq!(host.row("main").await.state, WorkState::Queued);
    host.submit("main").await;
    worker.run_until_idle().await;
    assert_eq!(
        (host.counts("main").await, model.requests()),
        ([2, 2, 0], 2)
    );
    assert!(!host.queue.wake(&thread("other")).await.unwrap());
}

// A worker that waits claims a thread at once when a queue of its process queues or wakes the thread, and not only when it polls.
#[tokio::test]
async fn queue_wakes_a_waiting_worker() {
    let host = Host::new();
    let model = Replies::text("Yes.");
    let worker = host.worker(&model).poll(Duration::from_hours(1));
    let worker = worker.build().unwrap();
    let stop = CancellationToken::new();
    let running = {
        let stop = stop.clone();
        tokio::spawn(async move { worker.run(stop).await })
    };
    // The worker has found nothing, and waits.
    tokio::time::sleep(Duration::from_millis(50)).await;
    host.submit("main").await;
    host.until("main", |row| row.state == WorkState::Ended)
        .await;

    host.turns().say("Go on.", &cx("main")).await.unwrap();
    let far = Timestamp::now().plus(Duration::from_hours(1));
    host.queue.wake_at(&thread("main"), far).await.unwrap();
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(model.requests(), 1);
    host.queue.wake(&thread("main")).await.unwrap();
    host.until("main", |row| row.state == WorkState::Ended)
        .await;
    assert_eq!(model.requests(), 2);
    stop.cancel();
    running.await.unwrap();
}
