//! Sub-agents that are terminated or cancelled while they work, and sub-agents that outlive their turn.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use futures::future::{BoxFuture, join, pending};
use serde_json::json;
use tokio::sync::Notify;
use tool_agent::agent::Agent;
use tool_agent::runtime::{RuntimeError, Session, Subagent};
use tool_core::prelude::*;
use tool_core::store::{ChildChange, ChildState, ChildStore as _, Role, Timestamp};
use tool_core::turn::{Model, ModelMessage, ModelRequest, Outcome};
use tool_core::{CancellationToken, Effect, ErrorKind};

use crate::promises::{Held, Hold, commander, make, payment, slow, stored, tool};
use crate::promises_sessions::{background, cancel_run};
use crate::support::{
    Host, Log, agent, calls, context, entry, only_child, results, text, thinking, worker,
};

// The remaining calls of a message do not run after the sub-agent was terminated.
#[tokio::test]
async fn terminated_sub_agent_makes_no_remaining_call() {
    let (host, log, hold) = (Host::new(), Log::default(), Hold::new());
    let made = Arc::new(AtomicU32::new(0));
    let shared = hold.clone();
    let slow = tool("slow", Effect::WRITE, move || {
        let shared = shared.clone();
        async move { format!("waited {}", shared.wait().await) }
    });
    let tools = slow.combine(&make(&made)).unwrap();
    let both = calls([("slow", json!({})), ("make", json!({}))]);
    let maker = agent("worker", &log, [both, text("Made.")]);
    let runtime = host
        .runtime()
        .agent(entry(commander(&log, "worker")).subagent(background()))
        .agent(worker(maker.tools(move |_| tools.clone())))
        .build()
        .unwrap();
    let cx = context().build();
    runtime.respond("chief", "call Go.", &cx).await.unwrap();
    hold.begun(1).await;
    let row = only_child(&runtime, &cx).await;
    let reference = row.thread.conversation();
    runtime.terminate(reference, &cx).await.unwrap();
    hold.release(1);
    runtime.idle().await;
    assert_eq!(made.load(Ordering::SeqCst), 0);
}

// A process that does not know of the termination of its sub-agent yet sends no request for it.
#[tokio::test]
async fn terminated_sub_agent_makes_no_request() {
    let (host, log, hold) = (Host::new(), Log::default(), Hold::new());
    let tools = slow(&hold);
    let waiting = agent(
        "worker",
        &log,
        [calls([("slow", json!({}))]), text("Made.")],
    );
    let runtime = host
        .runtime()
        .agent(entry(commander(&log, "worker")).subagent(background()))
        .agent(worker(waiting.tools(move |_| tools.clone())))
        .build()
        .unwrap();
    let cx = context().build();
    runtime.respond("chief", "call Go.", &cx).await.unwrap();
    hold.begun(1).await;
    let row = only_child(&runtime, &cx).await;
    // A different process has changed the row, and its request to stop the run has not arrived yet.
    let end = ChildChange {
        session: row.session,
        from: vec![ChildState::Running],
        to: ChildState::Terminated,
        at: Timestamp::now(),
    };
    host.store.change_child(&row.thread, end).await.unwrap();
    hold.release(1);
    runtime.idle().await;
    assert_eq!(log.of("worker").len(), 1);
    assert!(!stored(&host, &cx).await.contains("subagent_result"));
}

/// A model whose request never ends. It counts the requests that were dropped.
#[derive(Clone, Default)]
struct Endless {
    begun: Arc<Notify>,
    dropped: Arc<AtomicU32>,
}

struct Dropped(Arc<AtomicU32>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl Model for Endless {
    fn next<'a>(
        &'a mut self,
        _: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelMessage, ToolError>> {
        let dropped = Dropped(self.dropped.clone());
        self.begun.notify_one();
        Box::pin(async move {
            let _dropped = dropped;
            pending().await
        })
    }
}

// If the run of the parent is dropped, for example because the client has disconnected, the request of a sub-agent whose call waits is dropped, too.
#[tokio::test]
async fn dropped_run_drops_the_request_of_its_sub_agent() {
    let (host, log, endless) = (Host::new(), Log::default(), Endless::default());
    let runtime = host
        .runtime()
        .agent(entry(commander(&log, "worker")).subagent(Subagent::new("worker")))
        .agent(worker(Agent::builder("worker", endless.clone())))
        .build()
        .unwrap();
    let cx = context().build();
    let turn = runtime.respond("chief", "call Go.", &cx);
    tokio::select! {
        outcome = turn => panic!("{outcome:?}"),
        () = endless.begun.notified() => {}
    }
    for _ in 0..100 {
        if endless.dropped.load(Ordering::SeqCst) == 1 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(endless.dropped.load(Ordering::SeqCst), 1);
}

// A sub-agent that is terminated while its partner waits for its provider returns no text of an unfinished session.
#[tokio::test]
async fn result_of_a_terminated_session_is_an_error() {
    let (host, log) = (Host::new(), Log::default());
    let wait = Duration::from_millis(50);
    let partner = thinking("partner", &log, move |_| {
        let limited = ToolError::of(ErrorKind::Pending, "the model is limited");
        Err(limited.retry_after(wait))
    });
    let session = Session::new()
        .partner(partner.build().unwrap())
        .most_turns(2);
    let asking = agent("worker", &log, [text("Which fjord?")]);
    let runtime = host
        .runtime()
        .agent(entry(commander(&log, "worker")).subagent(Subagent::new("worker")))
        .agent(worker(asking).session(session))
        .build()
        .unwrap();
    let cx = context().build();
    let suspended = runtime.respond("chief", "call Go.", &cx).await;
    assert!(
        matches!(&suspended, Err(RuntimeError::Turn(error)) if error.resumes_after().is_some()),
        "{suspended:?}"
    );
    let row = only_child(&runtime, &cx).await;
    let reference = row.thread.conversation();
    runtime.terminate(reference, &cx).await.unwrap();
    tokio::time::sleep(wait * 2).await;
    let outcome = runtime.drive("chief", &cx).await;
    assert!(matches!(outcome, Ok(Outcome::Answered(_))), "{outcome:?}");
    let result = results(&host, &cx).await.pop().unwrap();
    assert!(result.text.contains("was terminated"), "{}", result.text);
}

// A sub-agent in the background, whose call has returned, continues when the run of its parent is cancelled.
#[tokio::test]
async fn background_sub_agent_outlives_a_cancelled_run() {
    let (host, log) = (Host::new(), Log::default());
    let (of_chief, of_worker) = (Hold::new(), Hold::new());
    let tools = slow(&of_chief);
    let chief = thinking("chief", &log, |request| {
        let reports = request.last(Role::User).contains("subagent_result");
        Ok(match request.step() {
            0 if !reports => calls([("worker", json!({"message": "Go."}))]),
            1 if !reports => calls([("slow", json!({}))]),
            _ => text("Noted."),
        })
    });
    let runtime = host
        .runtime()
        .agent(entry(chief.tools(move |_| tools.clone())).subagent(background()))
        .agent(worker(Agent::builder("worker", Held(of_worker.clone()))))
        .build()
        .unwrap();
    let cx = context().build();
    let cancel = async {
        of_chief.begun(1).await;
        of_worker.begun(1).await;
        cancel_run(&host).await;
    };
    let turn = runtime.respond("chief", "Go.", &cx);
    let (outcome, ()) = join(turn, cancel).await;
    assert!(matches!(outcome, Ok(Outcome::Cancelled)), "{outcome:?}");
    let state = only_child(&runtime, &cx).await.state;
    assert_eq!(state, ChildState::Running);
    of_worker.release(1);
    runtime.idle().await;
    let row = only_child(&runtime, &cx).await;
    assert_eq!((row.state, row.delivered), (ChildState::Terminated, 1));
    assert!(stored(&host, &cx).await.contains("held 1"));
}

// A sub-agent in the background is limited neither by the deadline nor by the cancellation of the turn that started it.
#[tokio::test]
async fn background_sub_agent_outlives_its_turn() {
    let (host, log, hold) = (Host::new(), Log::default(), Hold::new());
    let runtime = host
        .runtime()
        .agent(entry(commander(&log, "worker")).subagent(background()))
        .agent(worker(Agent::builder("worker", Held(hold.clone()))))
        .build()
        .unwrap();
    let (token, deadline) = (CancellationToken::new(), Duration::from_millis(300));
    let turn = context().deadline(deadline).cancellation(token.clone());
    let outcome = runtime.respond("chief", "call Go.", &turn.build()).await;
    assert!(matches!(outcome, Ok(Outcome::Answered(_))), "{outcome:?}");
    hold.begun(1).await;
    token.cancel();
    tokio::time::sleep(deadline).await;
    hold.release(1);
    runtime.idle().await;
    let cx = context().build();
    let row = only_child(&runtime, &cx).await;
    assert_eq!((row.state, row.delivered), (ChildState::Terminated, 1));
    assert!(stored(&host, &cx).await.contains("held 1"));
    // The run of the parent that reads the answer is not limited by the turn, either.
    assert_eq!(log.of("chief").len(), 3);
}

// If a process died after it had stored the results of cancelled calls, the next run ends the sessions of these calls, and their approvals are
// withdrawn.
#[tokio::test]
async fn session_of_a_cancelled_call_is_ended_by_the_next_run() {
    let (host, log) = (Host::new(), Log::default());
    let payer = agent("worker", &log, [calls([("pay", json!({}))]), text("Paid.")]);
    let runtime = host
        .runtime()
        .agent(entry(commander(&log, "worker")).subagent(Subagent::new("worker")))
        .agent(worker(payer.tools(|_| payment())))
        .build()
        .unwrap();
    let cx = context().build();
    let outcome = runtime.respond("chief", "call Go.", &cx).await.unwrap();
    assert!(matches!(outcome, Outcome::Waiting(_)), "{outcome:?}");
    // The process stores the results without the runtime, and so without the end of the session.
    let token = CancellationToken::new();
    token.cancel();
    let stopped = context().cancellation(token).build();
    let tools = |_: &ToolContext| toolset![].through(&host.gate);
    let mut model = Endless::default();
    let outcome = host.turns().drive(&mut model, tools, &stopped).await;
    assert!(matches!(outcome, Ok(Outcome::Cancelled)), "{outcome:?}");
    assert_eq!(results(&host, &cx).await.len(), 1);
    let row = only_child(&runtime, &cx).await;
    assert_eq!(row.state, ChildState::AwaitingHuman);

    runtime.respond("chief", "Hello.", &cx).await.unwrap();
    let state = only_child(&runtime, &cx).await.state;
    assert_eq!(state, ChildState::Terminated);
    let approvals = host.gate.approvals().unwrap();
    assert!(approvals.waiting(&row.thread).await.unwrap().is_empty());
    assert_eq!(log.of("worker").len(), 1);
}

// The cancellation of a conversation stops its active run and its sub-agents in the background, whose outcomes are not delivered.
#[tokio::test]
async fn cancelled_conversation_stops_its_run_and_its_sub_agents() {
    let (host, log) = (Host::new(), Log::default());
    let (of_chief, of_worker) = (Hold::new(), Hold::new());
    let tools = slow(&of_chief);
    let chief = agent(
        "chief",
        &log,
        [
            calls([("worker", json!({"message": "Go."}))]),
            calls([("slow", json!({}))]),
            text("Done."),
        ],
    );
    let runtime = host
        .runtime()
        .agent(entry(chief.tools(move |_| tools.clone())).subagent(background()))
        .agent(worker(Agent::builder("worker", Held(of_worker.clone()))))
        .build()
        .unwrap();
    let cx = context().build();
    let cancel = async {
        of_chief.begun(1).await;
        of_worker.begun(1).await;
        for _ in 0..100 {
            match runtime.cancel("chief", &cx).await.unwrap() {
                Outcome::Busy(_) => tokio::time::sleep(Duration::from_millis(20)).await,
                _ => return true,
            }
        }
        false
    };
    let turn = runtime.respond("chief", "Go.", &cx);
    let turn = tokio::time::timeout(Duration::from_secs(9), turn);
    let (outcome, has_stopped) = join(turn, cancel).await;
    assert!(has_stopped);
    assert!(matches!(outcome, Ok(Ok(Outcome::Cancelled))), "{outcome:?}");
    let state = only_child(&runtime, &cx).await.state;
    assert_eq!(state, ChildState::Terminated);
    of_worker.release(1);
    runtime.idle().await;
    assert!(!stored(&host, &cx).await.contains("held 1"));
}
