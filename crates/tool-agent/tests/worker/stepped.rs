//! Threads that are driven step by step, and the cancellation of threads.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::sync::Semaphore;
use tool_agent::agent::Agent;
use tool_agent::runtime::{AgentEntry, AgentRuntime, Subagent};
use tool_agent::worker::{AgentQueue, CancelError, SteppedThread, TakenThread, ThreadStep, Worker};
use tool_core::prelude::*;
use tool_core::store::{
    ApprovalFilter, ApprovalStatus, ChildState, Role, Scope, Timestamp, WorkCause, WorkRow,
    WorkState, WorkStore as _, Workspace,
};
use tool_core::turn::{ModelMessage, Outcome, ToolMessage};

use crate::claims::Flaky;
use crate::support::{Blocker, Host, LEASE, Replies, cx, thread};

/// Looks up something.
#[tool(read_only)]
fn look() -> &'static str {
    "seen"
}

/// Deletes everything.
#[tool(approval)]
fn delete_all() -> &'static str {
    "deleted"
}

/// Returns a model that calls a tool twice, and then answers.
fn looks_twice() -> Replies {
    Replies::new(|number| async move {
        Ok(match number {
            0 | 1 => ModelMessage::calls([ToolCall::new(format!("c-{number}"), "look", "{}")]),
            _ => ModelMessage::text("Done."),
        })
    })
}

fn worker(host: &Host, model: &Replies) -> Worker {
    let chief = Agent::builder("chief", model.clone()).tools(|_| toolset![look, delete_all]);
    host.worker_with(chief).build().unwrap()
}

async fn taken(worker: &Worker, driver: &str) -> Box<SteppedThread> {
    match worker.take(&thread("main"), driver).await.unwrap() {
        TakenThread::Claimed(stepped) => stepped,
        TakenThread::Idle(row) => panic!("the thread was not claimed: {row:?}"),
    }
}

async fn idle(worker: &Worker, driver: &str) -> Option<WorkRow> {
    match worker.take(&thread("main"), driver).await.unwrap() {
        TakenThread::Claimed(stepped) => panic!("the thread was claimed: {stepped:?}"),
        TakenThread::Idle(row) => row.map(|row| *row),
    }
}

async fn stored(stepped: &mut SteppedThread, after: u64) -> u64 {
    match stepped.step(after).await {
        ThreadStep::Stored(seq) => seq,
        step => panic!("the step was not stored: {step:?}"),
    }
}

async fn released(stepped: &mut SteppedThread, after: u64) -> WorkRow {
    match stepped.step(after).await {
        ThreadStep::Released(row) => *row,
        step => panic!("the run has not ended: {step:?}"),
    }
}

// Each step makes one request and stores the results of its calls, and the thread does not change between two
// steps.
#[tokio::test]
async fn thread_is_driven_step_by_step() {
    let (host, model) = (Host::new(), looks_twice());
    let worker = worker(&host, &model);
    assert_eq!(idle(&worker, "one").await, None);
    host.submit("main").await;
    let mut stepped = taken(&worker, "one").await;
    let mut last = 0;
    for requests in [1, 2] {
        let seq = stored(&mut stepped, last).await;
        assert!(seq > last);
        last = seq;
        tokio::time::sleep(Duration::from_millis(20)).await;
        assert_eq!(model.requests(), requests);
        assert_eq!(host.counts("main").await, [1, requests, requests]);
    }
    let row = released(&mut stepped, last).await;
    assert_eq!(
        (row.state, row.cause),
        (WorkState::Ended, Some(WorkCause::Done))
    );
    assert_eq!(host.counts("main").await, [1, 3, 2]);
    assert!(matches!(stepped.step(last).await, ThreadStep::Lost));
    assert_eq!(idle(&worker, "one").await.unwrap().state, WorkState::Ended);
}

// A driver that continues after a crash gets the step that it had stored, without a new request. Another driver gets the thread when the lease has expired.
#[tokio::test]
async fn stored_step_is_not_repeated() {
    let (host, model) = (Host::new(), looks_twice());
    let worker = worker(&host, &model);
    host.submit("main").await;
    let mut stepped = taken(&worker, "one").await;
    let first = stored(&mut stepped, 0).await;
    let token = host.row("main").await.token;
    drop(stepped);
    // The dropped run ends in a background task.
    tokio::time::sleep(Duration::from_millis(20)).await;
    assert_eq!(
        idle(&worker, "two").await.unwrap().state,
        WorkState::Claimed
    );

    let mut stepped = taken(&worker, "one").await;
    assert_eq!(host.row("main").await.token, token);
    assert_eq!(stored(&mut stepped, 0).await, first);
    assert_eq!(model.requests(), 1);
    let second = stored(&mut stepped, first).await;
    assert_eq!(model.requests(), 2);
    drop(stepped);

    let row = host
        .until("main", |row| row.is_ready(Timestamp::now()))
        .await;
    assert_eq!((row.state, row.recoveries), (WorkState::Claimed, 0));
    let mut stepped = taken(&worker, "two").await;
    assert_eq!(
        (stepped.row().recoveries, stepped.row().token != token),
        (1, true)
    );
    assert_eq!(stored(&mut stepped, first).await, second);
    assert_eq!(
        released(&mut stepped, second).await.cause,
        Some(WorkCause::Done)
    );
    assert_eq!(
        (model.requests(), host.counts("main").await),
        (3, [1, 3, 2])
    );
}

// A driver whose claim was taken over makes no step.
#[tokio::test]
async fn lost_thread_is_not_driven() {
    let (host, model) = (Host::new(), looks_twice());
    let worker = worker(&host, &model);
    host.submit("main").await;
    let mut stepped = taken(&worker, "one").await;
    host.store.remove_work(&thread("main")).await.unwrap();
    host.submit("main").await;
    let other = taken(&worker, "two").await;
    let mut lost = false;
    // The driver detects the loss when it extends its lease.
    for _ in 0..100 {
        tokio::time::sleep(Duration::from_millis(10)).await;
        lost = lost || matches!(stepped.step(u64::MAX - 1).await, ThreadStep::Lost);
        if lost {
            break;
        }
    }
    assert!(lost);
    drop(other);
}

// A panic of a model is a failed attempt of its thread, and does not reach the engine that drives the steps.
#[tokio::test]
async fn panic_of_a_step_fails_the_attempt() {
    let host = Host::new();
    let model = Replies::new(|number| async move {
        assert!(number > 0, "the model panics");
        Ok(ModelMessage::text("Yes."))
    });
    let worker = worker(&host, &model);
    host.submit("main").await;
    let mut stepped = taken(&worker, "one").await;
    let row = released(&mut stepped, 0).await;
    assert_eq!((row.state, row.attempts), (WorkState::Queued, 1));
}

/// Returns the texts of the results in a conversation.
async fn results(host: &Host, conversation: &str) -> Vec<String> {
    let messages = host.turns().messages(&cx(conversation), None).await;
    let messages = messages.unwrap().into_iter();
    let results = messages.filter(|message| message.role == Role::Tool);
    let results = results.map(|message| serde_json::from_str::<ToolMessage>(&message.content));
    results.map(|result| result.unwrap().text).collect()
}

async fn pending(host: &Host) -> usize {
    let filter = ApprovalFilter {
        status: Some(ApprovalStatus::Pending),
        ..ApprovalFilter::default()
    };
    let approvals = host.gate.approvals().unwrap();
    let workspace = Workspace::new("acme");
    let open = approvals.list(Scope::Workspace(&workspace), &filter);
    open.await.unwrap().len()
}

// A queued thread is not driven after its cancellation. The model reads the message of the thread together with the next message.
#[tokio::test]
async fn queued_thread_is_cancelled() {
    let (host, model) = (Host::new(), Replies::text("Yes."));
    let worker = worker(&host, &model);
    assert!(!worker.cancel(&thread("main")).await.unwrap());
    host.submit("main").await;
    assert!(worker.cancel(&thread("main")).await.unwrap());
    assert_eq!(host.row("main").await.cause, Some(WorkCause::Done));
    worker.run_until_idle().await;
    assert_eq!(
        (model.requests(), host.counts("main").await),
        (0, [1, 0, 0])
    );
    assert!(worker.cancel(&thread("main")).await.unwrap());
    host.submit("main").await;
    worker.run_until_idle().await;
    assert_eq!(
        (model.requests(), host.counts("main").await),
        (1, [2, 1, 0])
    );
}

// If a thread that waits is cancelled, its open call gets a result, and its approval is withdrawn.
#[tokio::test]
async fn waiting_thread_is_cancelled() {
    let host = Host::new();
    let model = Replies::new(|number| async move {
        Ok(match number {
            0 => ModelMessage::calls([ToolCall::new("c-1", "delete_all", "{}")]),
            _ => ModelMessage::text("Done."),
        })
    });
    let worker = worker(&host, &model);
    host.submit("main").await;
    worker.run_until_idle().await;
    assert_eq!(host.row("main").await.state, WorkState::Waiting);
    assert_eq!(pending(&host).await, 1);
    assert!(worker.cancel(&thread("main")).await.unwrap());
    let row = host.row("main").await;
    assert_eq!(
        (row.state, row.cause),
        (WorkState::Ended, Some(WorkCause::Done))
    );
    assert_eq!(pending(&host).await, 0);
    let results = results(&host, "main").await;
    assert!(
        matches!(&results[..], [text] if text.contains("stopped")),
        "{results:?}"
    );
    assert_eq!(model.requests(), 1);
}

// If a thread is cancelled during a run, the run stops, and a message that arrived in the meantime is answered.
#[tokio::test]
async fn active_thread_is_cancelled() {
    for has_message in [false, true] {
        let (host, blocker) = (Host::new(), Blocker::default());
        let running = worker(&host, &blocker.model("Yes."));
        host.submit("main").await;
        let drive = {
            let running = running.clone();
            tokio::spawn(async move { running.run_until_idle().await })
        };
        blocker.began.notified().await;
        if has_message {
            host.submit("main").await;
        }
        // The other worker shares only the database with the process of the run.
        let other = worker(&host, &Replies::text("No."));
        assert!(other.cancel(&thread("main")).await.unwrap());
        assert_eq!(blocker.dropped(), 1);
        if has_message {
            blocker.began.notified().await;
            blocker.go.notify_one();
        }
        drive.await.unwrap();
        assert_eq!(host.row("main").await.cause, Some(WorkCause::Done));
        let expected = if has_message { [2, 1, 0] } else { [1, 0, 0] };
        assert_eq!(host.counts("main").await, expected);
    }
}

// `cancel` returns when the stopped driver has released its claim, so that the row of the thread does not change afterwards.
#[tokio::test]
async fn cancellation_waits_for_the_release_of_the_claim() {
    let (host, blocker) = (Host::new(), Blocker::default());
    let permits = Arc::new(Semaphore::new(0));
    let flaky = Flaky {
        permits: Some(Arc::clone(&permits)),
        ..Flaky::new(&host)
    };
    let queue = AgentQueue::new(flaky.clone()).agent("chief", "1");
    let chief = Agent::builder("chief", blocker.model("Yes."));
    let lease = LEASE * 10;
    let driver = Worker::builder(&host.runtime(chief), &queue).lease(lease);
    let driver = driver.build().unwrap();
    host.submit("main").await;
    let drive = tokio::spawn(async move { driver.run_until_idle().await });
    blocker.began.notified().await;
    let other = host.worker(&Replies::text("No.")).lease(lease);
    let other = other.build().unwrap();
    let thread = thread("main");
    let mut cancel = Box::pin(other.cancel(&thread));
    let held = async {
        while flaky.released.load(Ordering::SeqCst) == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    };
    tokio::select! {
        ended = &mut cancel => panic!("the claim is not released: {ended:?}"),
        () = held => {}
    }
    assert_eq!(host.row("main").await.state, WorkState::Claimed);
    permits.add_permits(1);
    assert!(cancel.await.unwrap());
    assert_eq!(host.row("main").await.state, WorkState::Ended);
    drive.await.unwrap();
}

// A run that the host drives without the queue stops, too, before `cancel` returns.
#[tokio::test]
async fn run_outside_of_the_queue_is_cancelled() {
    let (host, blocker) = (Host::new(), Blocker::default());
    let runtime = host.runtime(Agent::builder("chief", blocker.model("Yes.")));
    let driving = tokio::spawn(async move { runtime.respond("chief", "Go.", &cx("main")).await });
    blocker.began.notified().await;
    host.submit("main").await;
    let worker = worker(&host, &Replies::text("No."));
    assert!(worker.cancel(&thread("main")).await.unwrap());
    assert_eq!(blocker.dropped(), 1);
    assert_eq!(host.row("main").await.cause, Some(WorkCause::Done));
    let outcome = driving.await.unwrap();
    assert!(matches!(outcome, Ok(Outcome::Cancelled)), "{outcome:?}");
    assert_eq!(host.counts("main").await, [2, 0, 0]);
}

// If the context of a thread cannot be built, the cancellation fails and releases its claim, and another worker can cancel the thread.
#[tokio::test]
async fn failed_cancellation_releases_the_thread() {
    let (host, model) = (Host::new(), Replies::text("Yes."));
    let broken = host.worker(&model).retry(Duration::ZERO);
    let broken = broken.context(|_| async { Err(ToolError::new("no such user")) });
    host.submit("main").await;
    let failed = broken.build().unwrap().cancel(&thread("main")).await;
    assert!(matches!(failed, Err(CancelError::Context)), "{failed:?}");
    let row = host.row("main").await;
    assert_eq!((row.state, row.attempts), (WorkState::Queued, 1));
    let other = worker(&host, &model);
    assert!(other.cancel(&thread("main")).await.unwrap());
    assert_eq!(host.row("main").await.cause, Some(WorkCause::Done));
    assert_eq!(model.requests(), 0);
}

// A sub-agent that waits is cancelled together with the call that started it.
#[tokio::test]
async fn waiting_sub_agent_is_cancelled() {
    let host = Host::new();
    let chief = Replies::new(|number| async move {
        Ok(match number {
            0 => ModelMessage::calls([ToolCall::new("c-1", "janitor", r#"{"message":"Clean."}"#)]),
            _ => ModelMessage::text("Done."),
        })
    });
    let janitor = Replies::new(|number| async move {
        Ok(match number {
            0 => ModelMessage::calls([ToolCall::new("c-2", "delete_all", "{}")]),
            _ => ModelMessage::text("Clean."),
        })
    });
    let chief = AgentEntry::new(Agent::builder("chief", chief).build().unwrap());
    let janitor = Agent::builder("janitor", janitor).tools(|_| toolset![delete_all]);
    let janitor = AgentEntry::new(janitor.build().unwrap());
    let runtime = AgentRuntime::builder(host.turns(), &host.gate)
        .children(host.store.clone())
        .agent(chief.subagent(Subagent::new("janitor")))
        .agent(janitor.autonomous().expose("Cleans."))
        .build()
        .unwrap();
    let worker = Worker::builder(&runtime, &host.queue).build().unwrap();
    host.submit("main").await;
    worker.run_until_idle().await;
    assert_eq!(pending(&host).await, 1);
    assert!(worker.cancel(&thread("main")).await.unwrap());
    assert_eq!(pending(&host).await, 0);
    let children = runtime.children(&cx("main")).await.unwrap();
    assert_eq!(children[0].state, ChildState::Terminated);
    assert_eq!(results(&host, "main").await.len(), 1);
    assert_eq!(
        results(&host, children[0].thread.conversation())
            .await
            .len(),
        1
    );
}
