//! Messages of sub-agents to their parents, and the runs that these messages begin.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;
use serde_json::{Value, json};
use tool_agent::agent::Agent;
use tool_agent::runtime::{
    AgentRuntime, ParentCommunication, ParentThread, Resumable, SpawnGate, Subagent,
};
use tool_core::prelude::*;
use tool_core::store::{ChildChange, ChildState, ChildStore as _, Role, Timestamp};
use tool_core::turn::{Model, ModelMessage, ModelRequest};
use tool_core::{DynamicTool, Effect, Registry};

use crate::promises::{Held, Hold, commander, create, stored};
use crate::support::{
    Host, Log, agent, calls, context, entry, in_conversation, only_child, text, thinking, worker,
};

/// The handle of the parent that a tool of a sub-agent has kept.
type Kept = Arc<Mutex<Option<ParentThread>>>;

/// Returns a tool that keeps the handle of the parent beyond its call, as a task of the host does.
fn keep(kept: &Kept) -> Toolset {
    let kept = kept.clone();
    let schema = json!({"type": "object", "properties": {}, "additionalProperties": false});
    let run = move |_: Value, cx: ToolContext| {
        let kept = kept.clone();
        async move {
            *kept.lock().unwrap() = Some(cx.get::<ParentThread>()?);
            Ok::<_, ToolError>("kept")
        }
    };
    let tool = DynamicTool::new("keep", "Keeps the parent.", schema, run).effect(Effect::WRITE);
    Registry::builder().dynamic(tool).build().unwrap().open()
}

/// Returns an agent that calls `keep` once.
fn keeper(log: &Log, kept: &Kept) -> tool_agent::agent::AgentBuilder {
    let tools = keep(kept);
    let replies = [calls([("keep", json!({}))]), text("Answer.")];
    agent("worker", log, replies).tools(move |_| tools.clone())
}

/// Returns a resumable sub-agent in the background that delivers only its notifications.
fn explicit() -> Subagent {
    let resumable = Resumable::new().parent_communication(ParentCommunication::Explicit);
    Subagent::new("worker").blocking(false).resumable(resumable)
}

fn handle(kept: &Kept) -> ParentThread {
    kept.lock().unwrap().take().unwrap()
}

// A notification begins a run of the parent. After the sub-agent was terminated, its remaining code sends no more messages.
#[tokio::test]
async fn terminated_sub_agent_sends_no_message() {
    let (host, log, kept) = (Host::new(), Log::default(), Kept::default());
    let runtime = host
        .runtime()
        .agent(entry(commander(&log, "worker")).subagent(explicit()))
        .agent(worker(keeper(&log, &kept)))
        .build()
        .unwrap();
    let cx = context().build();
    runtime.respond("chief", "create Go.", &cx).await.unwrap();
    runtime.idle().await;
    assert_eq!(log.of("chief").len(), 2);
    let parent = handle(&kept);
    parent.notify("Half done.").await.unwrap();
    runtime.idle().await;
    let last = log.of("chief").pop().unwrap().last(Role::User);
    assert!(last.contains("Half done."), "{last}");
    assert_eq!(log.of("chief").len(), 3);

    let row = only_child(&runtime, &cx).await;
    let reference = row.thread.conversation();
    runtime.terminate(reference, &cx).await.unwrap();
    let refused = parent.notify("All done.").await.unwrap_err();
    let refused = refused.model_text();
    assert!(refused.contains("this agent was terminated"), "{refused}");
    runtime.idle().await;
    assert!(!stored(&host, &cx).await.contains("All done."));
    assert_eq!(log.of("chief").len(), 3);
}

/// Returns a runtime in which a chief starts the resumable agent `middle`, which starts the agent `worker`.
fn nested(
    host: &Host,
    log: &Log,
    middle: tool_agent::agent::AgentBuilder,
    tool: Subagent,
    last: tool_agent::agent::AgentBuilder,
) -> AgentRuntime {
    let resumable = Subagent::new("middle").resumable(Resumable::new());
    host.runtime()
        .agent(entry(commander(log, "middle")).subagent(resumable))
        .agent(
            worker(middle)
                .subagent(tool)
                .spawn(SpawnGate::default().most_depth(2)),
        )
        .agent(worker(last))
        .build()
        .unwrap()
}

/// Returns an agent that starts a worker and then repeats the messages that it reads.
fn middle(log: &Log) -> tool_agent::agent::AgentBuilder {
    thinking("middle", log, |request| {
        Ok(if request.texts(Role::User).len() > 1 {
            text(&format!("heard {}", request.last(Role::User)))
        } else if request.step() == 0 {
            create("worker", "Go.")
        } else {
            text("Middle.")
        })
    })
}

// A notification begins the next session of a sub-agent that is idle, and the outcome of that session is delivered. A parent that was terminated gets
// no message.
#[tokio::test]
async fn notification_begins_a_session_of_an_idle_sub_agent() {
    let (host, log, kept) = (Host::new(), Log::default(), Kept::default());
    let runtime = nested(&host, &log, middle(&log), explicit(), keeper(&log, &kept));
    let cx = context().build();
    runtime.respond("chief", "create Go.", &cx).await.unwrap();
    runtime.idle().await;
    let row = only_child(&runtime, &cx).await;
    assert_eq!((row.state, row.session), (ChildState::Idle, 1));
    let parent = handle(&kept);
    parent.notify("Half done.").await.unwrap();
    runtime.idle().await;
    let row = only_child(&runtime, &cx).await;
    assert_eq!((row.state, row.session), (ChildState::Idle, 2));
    let delivered = stored(&host, &cx).await;
    let reports = delivered.lines().filter(|line| line.contains("Half done."));
    assert_eq!(reports.count(), 1, "{delivered}");

    // The host has terminated the agent in the middle, and not yet the agent below it.
    let end = ChildChange {
        session: row.session,
        from: vec![ChildState::Idle],
        to: ChildState::Terminated,
        at: Timestamp::now(),
    };
    host.store.change_child(&row.thread, end).await.unwrap();
    let refused = parent.notify("All done.").await.unwrap_err();
    let refused = refused.model_text();
    assert!(refused.contains("the parent was terminated"), "{refused}");
    let child = in_conversation(row.thread.conversation());
    assert!(!stored(&host, &child).await.contains("All done."));
}

// After one message of its parent, at most 25 sessions of a sub-agent begin for notifications. Further notifications are stored, and the next session reads them.
#[tokio::test]
async fn sessions_for_notifications_are_limited() {
    let (host, log, kept) = (Host::new(), Log::default(), Kept::default());
    let runtime = nested(&host, &log, middle(&log), explicit(), keeper(&log, &kept));
    let cx = context().build();
    runtime.respond("chief", "create Go.", &cx).await.unwrap();
    runtime.idle().await;
    let parent = handle(&kept);
    for number in 1..=30 {
        parent.notify(&format!("Part {number}.")).await.unwrap();
        runtime.idle().await;
    }
    let row = only_child(&runtime, &cx).await;
    assert_eq!((row.state, row.session), (ChildState::Idle, 26));
    let requests = log.of("middle").len();
    runtime.respond("chief", "send More.", &cx).await.unwrap();
    runtime.idle().await;
    let next = log.of("middle").remove(requests);
    assert_eq!(next.texts(Role::User).len(), 32);
    assert!(next.texts(Role::User)[30].contains("Part 30."));
    parent.notify("Part 31.").await.unwrap();
    runtime.idle().await;
    assert_eq!(only_child(&runtime, &cx).await.session, 28);
}

// The outcome of a sub-agent in the background begins the next session of its parent, also if the last session of the parent failed.
#[tokio::test]
async fn outcome_begins_a_session_of_a_sub_agent_that_has_ended() {
    for fails in [false, true] {
        let (host, log, hold) = (Host::new(), Log::default(), Hold::new());
        let middle = thinking("middle", &log, move |request| {
            if request.texts(Role::User).len() > 1 {
                return Ok(text("Read."));
            }
            match request.step() {
                0 => Ok(create("worker", "Go.")),
                _ if fails => Err(ToolError::new("no network")),
                _ => Ok(text("Middle.")),
            }
        });
        let tool = Subagent::new("worker")
            .blocking(false)
            .resumable(Resumable::new());
        let waiting = Agent::builder("worker", Held(hold.clone()));
        let runtime = nested(&host, &log, middle, tool, waiting);
        let cx = context().build();
        runtime.respond("chief", "create Go.", &cx).await.unwrap();
        hold.begun(1).await;
        let ended = if fails {
            ChildState::Failed
        } else {
            ChildState::Idle
        };
        assert_eq!(only_child(&runtime, &cx).await.state, ended);
        hold.release(1);
        runtime.idle().await;
        let row = only_child(&runtime, &cx).await;
        assert_eq!((row.state, row.session), (ChildState::Idle, 2), "{fails}");
        let last = log.of("middle").pop().unwrap().last(Role::User);
        assert!(last.contains("held 1"), "{last}");
        let delivered = stored(&host, &cx).await;
        assert!(delivered.contains("Read."), "{delivered}");
    }
}

/// A model that starts a worker, blocks in its second request, and then answers.
#[derive(Clone)]
struct Blocking {
    requests: Arc<AtomicU32>,
    hold: Arc<Hold>,
}

impl Model for Blocking {
    fn next<'a>(
        &'a mut self,
        _: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelMessage, ToolError>> {
        Box::pin(async move {
            Ok(match self.requests.fetch_add(1, Ordering::SeqCst) {
                0 => calls([("worker", json!({"message": "Go."}))]),
                1 => {
                    self.hold.wait().await;
                    text("Not read yet.")
                }
                _ => text("Read."),
            })
        })
    }
}

// An outcome that arrives during the last request of the parent's run is read by another run, which begins when the active one has ended.
#[tokio::test]
async fn outcome_during_the_last_request_of_a_run_is_read() {
    let (host, log) = (Host::new(), Log::default());
    let model = Blocking {
        requests: Arc::default(),
        hold: Hold::new(),
    };
    let runtime = host
        .runtime()
        .agent(
            entry(Agent::builder("chief", model.clone()))
                .subagent(Subagent::new("worker").blocking(false)),
        )
        .agent(worker(agent("worker", &log, [text("Answer.")])))
        .build()
        .unwrap();
    let cx = context().build();
    let release = async {
        while !stored(&host, &cx).await.contains("subagent_result") {
            tokio::task::yield_now().await;
        }
        // The delivery has found the run of the parent active.
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
        model.hold.release(1);
    };
    let turn = runtime.respond("chief", "Go.", &cx);
    let (outcome, ()) = futures::future::join(turn, release).await;
    outcome.unwrap();
    runtime.idle().await;
    assert_eq!(model.requests.load(Ordering::SeqCst), 3);
    let messages = stored(&host, &cx).await;
    let last = messages.lines().last().unwrap();
    assert!(last.contains("Read."), "{last}");
}
