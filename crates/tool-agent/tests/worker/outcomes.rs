//! The states of a thread after its drive.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tool_agent::agent::Agent;
use tool_agent::runtime::{AgentEntry, AgentRuntime, Subagent};
use tool_agent::worker::{AgentQueue, Worker};
use tool_core::prelude::*;
use tool_core::store::{
    ApprovalFilter, BudgetAmount, BudgetId, BudgetStore as _, CallId, ChildKind, ChildRow,
    ChildState, ChildStore as _, EffectEnd, EffectLedger, EffectState, Intent, RunCause, RunFilter,
    RunStore as _, Scope, Timestamp, Usage, WorkCause, WorkRow, WorkState, Workspace,
};
use tool_core::turn::{Budget, DuringRun, ModelMessage, StopReason};
use tool_core::{CancellationToken, Reply};
use tool_store::digest;

use crate::support::{Blocker, Host, LEASE, Replies, cx, thread};

// A worker answers the messages of several conversations, including a message that arrives during the last request.
#[tokio::test]
async fn queued_conversations_are_answered() {
    let host = Host::new();
    for conversation in ["a", "b", "c"] {
        host.submit(conversation).await;
    }
    let model = Replies::text("Yes.");
    host.worker(&model)
        .threads(2)
        .build()
        .unwrap()
        .run_until_idle()
        .await;
    for conversation in ["a", "b", "c"] {
        let row = host.row(conversation).await;
        assert_eq!(
            (row.state, row.cause),
            (WorkState::Ended, Some(WorkCause::Done))
        );
        assert_eq!(host.counts(conversation).await, [1, 1, 0]);
    }

    let blocker = Blocker::default();
    let worker = host.worker(&blocker.model("Yes.")).build().unwrap();
    host.submit("late").await;
    let running = tokio::spawn(async move { worker.run_until_idle().await });
    blocker.began.notified().await;
    let row = host.submit("late").await;
    assert_eq!((row.state, row.again.is_some()), (WorkState::Claimed, true));
    blocker.go.notify_one();
    blocker.began.notified().await;
    blocker.go.notify_one();
    running.await.unwrap();
    assert_eq!(host.row("late").await.cause, Some(WorkCause::Done));
    assert_eq!(host.counts("late").await, [2, 2, 0]);
}

/// Deletes everything.
#[tool(approval)]
fn delete_all() -> &'static str {
    "deleted"
}

// A conversation that waits for an approval is not claimed, and the answer queues it.
#[tokio::test]
async fn conversation_waits_for_an_approval() {
    let host = Host::new();
    let model = Replies::new(|number| async move {
        Ok(match number {
            0 => ModelMessage::calls([ToolCall::new("c-1", "delete_all", "{}")]),
            _ => ModelMessage::text("Done."),
        })
    });
    let chief = Agent::builder("chief", model.clone()).tools(|_| toolset![delete_all]);
    let worker = host.worker_with(chief).build().unwrap();
    host.submit("main").await;
    worker.run_until_idle().await;
    assert_eq!(
        (host.row("main").await.state, model.requests()),
        (WorkState::Waiting, 1)
    );

    let approvals = host.gate.approvals().unwrap();
    let workspace = Workspace::new("acme");
    let open = approvals
        .list(Scope::Workspace(&workspace), &ApprovalFilter::default())
        .await
        .unwrap();
    let tools = toolset![delete_all];
    let answered = approvals.answer_id(
        &workspace,
        &tools,
        &open[0].request.id,
        Reply::Approve,
        "boss",
        None,
    );
    answered.await.unwrap();
    assert!(host.queue.wake(&thread("main")).await.unwrap());
    worker.run_until_idle().await;
    assert_eq!(host.row("main").await.cause, Some(WorkCause::Done));
    assert_eq!(host.counts("main").await, [1, 2, 1]);
}

/// Sends the report.
#[tool]
fn send() -> &'static str {
    "sent"
}

// A call still runs in a different process, or that process died and the lease of the call has not expired. No event wakes the conversation, so it is queued
// again until the call has ended or an operator has to settle it.
#[tokio::test]
async fn conversation_whose_call_runs_elsewhere_is_queued_again() {
    for settles in [true, false] {
        let host = Host::new();
        let model = Replies::new(|number| async move {
            Ok(match number {
                0 => ModelMessage::calls([ToolCall::new("c-1", "send", "{}")]),
                _ => ModelMessage::text("Done."),
            })
        });
        let tools = toolset![send];
        host.submit("main").await;
        let message = ModelMessage::calls([ToolCall::new("c-1", "send", "{}")]);
        let message = host.turns().record(message, &cx("main")).await.unwrap();
        let identity = CallId::in_thread(&thread("main"), message.seq(), 0);
        let key = identity.key();
        let lease = Duration::from_millis(400);
        let intent = Intent {
            identity,
            earlier: None,
            call: "c-1".to_owned(),
            thread: Some("main".to_owned()),
            agent: Some("chief".to_owned()),
            tool: "send".to_owned(),
            contract: tools.get("send").unwrap().contract().to_string(),
            principal: "ann".to_owned(),
            arguments_hash: digest::sha256(&["{}"]),
            owner: "other".to_owned(),
            at: Timestamp::now(),
            lease_until: Timestamp::now().plus(lease),
        };
        EffectLedger::begin(&host.store, intent, None)
            .await
            .unwrap();

        let chief = Agent::builder("chief", model).tools(move |_| tools.clone());
        let worker = host.worker_with(chief).build().unwrap();
        worker.run_until_idle().await;
        let row = host.row("main").await;
        assert_eq!((row.state, row.attempts), (WorkState::Queued, 0), "{row:?}");
        if settles {
            let end = EffectEnd {
                state: EffectState::Succeeded,
                result: None,
                at: Timestamp::now(),
                released: false,
            };
            let ended = EffectLedger::end(&host.store, &key, "other", end).await;
            ended.unwrap();
        } else {
            tokio::time::sleep(lease).await;
            let now = Timestamp::now();
            assert_eq!(host.store.sweep(Scope::All, now).await.unwrap().len(), 1);
        }
        let stop = CancellationToken::new();
        let running = tokio::spawn({
            let (worker, stop) = (worker.clone(), stop.clone());
            async move { worker.run(stop).await }
        });
        let expected = if settles {
            WorkState::Ended
        } else {
            WorkState::Waiting
        };
        host.until("main", |row| row.state == expected).await;
        stop.cancel();
        running.await.unwrap();
    }
}

// A failed request is repeated after a growing pause, and the thread of a conversation that fails too often
// ends.
#[tokio::test]
async fn failed_attempts_are_repeated_up_to_the_limit() {
    let host = Host::new();
    let broken = Replies::new(|number| async move {
        match number {
            2 => Ok(ModelMessage::text("Yes.")),
            _ => Err(ToolError::new("the provider is down")),
        }
    });
    let worker = host.worker(&broken).most_attempts(3).build().unwrap();
    host.submit("a").await;
    let stop = CancellationToken::new();
    let running = {
        let stop = stop.clone();
        tokio::spawn(async move { worker.run(stop).await })
    };
    let row = host.until("a", |row| row.state == WorkState::Ended).await;
    assert_eq!(
        (row.cause, row.attempts, broken.requests()),
        (Some(WorkCause::Done), 0, 3)
    );
    host.submit("b").await;
    let row = host.until("b", |row| row.state == WorkState::Ended).await;
    assert_eq!((row.cause, broken.requests()), (Some(WorkCause::Failed), 6));
    assert_eq!(host.counts("b").await, [1, 0, 0]);
    stop.cancel();
    running.await.unwrap();
}

// If the provider of a failed request asks for a wait, the next attempt is not made before its end.
#[tokio::test]
async fn attempt_waits_as_long_as_the_provider_asks() {
    let host = Host::new();
    let limited = Replies::new(|_| async {
        Err(ToolError::new("the provider is busy").retry_after(Duration::from_mins(5)))
    });
    host.submit("main").await;
    let worker = host.worker(&limited).build().unwrap();
    worker.run_until_idle().await;
    let row = host.row("main").await;
    assert_eq!((row.state, row.attempts), (WorkState::Queued, 1));
    let wait = row.ready.unwrap().as_millis() - row.updated.as_millis();
    assert!(wait >= 300_000, "{wait} ms");
}

// The pause doubles with each failed attempt, up to 64 times the first pause.
#[tokio::test]
async fn pause_grows_with_each_attempt() {
    let host = Host::new();
    let broken = Replies::new(|_| async { Err(ToolError::new("the provider is down")) });
    let pause = Duration::from_hours(1);
    let worker = host.worker(&broken).retry(pause).most_attempts(20);
    let worker = worker.build().unwrap();
    host.submit("main").await;
    for times in [1, 2, 4, 8, 16, 32, 64, 64] {
        worker.run_until_idle().await;
        let row = host.row("main").await;
        let wait = row.ready.unwrap().as_millis() - row.updated.as_millis();
        let hours = wait / 3_600_000;
        assert_eq!(hours, times, "{wait} ms after {} attempts", row.attempts);
        host.queue.wake(&thread("main")).await.unwrap();
    }
}

// A message that interrupts the run of a worker is answered by the next drive, which begins at once.
#[tokio::test]
async fn message_that_interrupts_a_run_is_answered() {
    let host = Host::new();
    let blocker = Blocker::default();
    let worker = host.worker(&blocker.model("Yes.")).build().unwrap();
    host.submit("main").await;
    let running = tokio::spawn(async move { worker.run_until_idle().await });
    blocker.began.notified().await;
    let turns = host.turns().during_run(DuringRun::Interrupt);
    turns.say("Rather this.", &cx("main")).await.unwrap();
    blocker.began.notified().await;
    assert_eq!(blocker.dropped(), 1);
    blocker.go.notify_one();
    running.await.unwrap();
    let row = host.row("main").await;
    assert_eq!((row.cause, row.attempts), (Some(WorkCause::Done), 0));
    assert_eq!(host.counts("main").await, [2, 1, 0]);
}

// If the deadline of a drive passes, the conversation is queued again, and the next drive continues it.
#[tokio::test]
async fn drive_whose_deadline_passed_is_continued() {
    let host = Host::new();
    let model = Replies::new(|number| async move {
        if number == 0 {
            std::future::pending::<()>().await;
        }
        Ok(ModelMessage::text("Yes."))
    });
    let worker = host.worker(&model).context(|row| async move {
        let cx = cx(row.thread.conversation()).derive();
        Ok(cx.deadline(Duration::from_millis(100)).build())
    });
    let worker = worker.build().unwrap();
    host.submit("main").await;
    worker.run_until_idle().await;
    let row = host.row("main").await;
    assert_eq!((row.state, row.attempts), (WorkState::Queued, 0));
    tokio::time::sleep(Duration::from_millis(20)).await;
    worker.run_until_idle().await;
    assert_eq!(host.row("main").await.cause, Some(WorkCause::Done));
    assert_eq!(host.counts("main").await, [1, 1, 0]);
}

// A turn that the provider pauses too often ends, and is not attempted again.
#[tokio::test]
async fn paused_turn_ends_at_its_limit() {
    let host = Host::new();
    let model = Replies::new(|_| async {
        let mut paused = ModelMessage::text("So far.");
        paused.stop = Some(StopReason::Paused);
        Ok(paused)
    });
    host.submit("a").await;
    host.worker(&model).build().unwrap().run_until_idle().await;
    let row = host.row("a").await;
    assert_eq!((row.cause, model.requests()), (Some(WorkCause::Failed), 11));
}

// A context that cannot be built is a failed attempt, and a context of a different conversation ends the thread.
#[tokio::test]
async fn invalid_context_runs_no_request() {
    let host = Host::new();
    let model = Replies::text("Yes.");
    let made = Arc::new(AtomicUsize::new(0));
    let worker = {
        let made = Arc::clone(&made);
        host.worker(&model).most_attempts(1).context(move |row| {
            made.fetch_add(1, Ordering::SeqCst);
            async move {
                match row.thread.conversation() {
                    "a" => Err(ToolError::new("no such user")),
                    _ => Ok(cx("c")),
                }
            }
        })
    };
    for conversation in ["a", "b"] {
        host.submit(conversation).await;
    }
    worker.build().unwrap().run_until_idle().await;
    for conversation in ["a", "b"] {
        assert_eq!(host.row(conversation).await.cause, Some(WorkCause::Failed));
    }
    assert_eq!((made.load(Ordering::SeqCst), model.requests()), (2, 0));
}

// A panic of a model is a failed attempt of its thread, and the worker continues with other threads.
#[tokio::test]
async fn panic_of_a_model_fails_the_attempt() {
    let host = Host::new();
    let model = Replies::new(|number| async move {
        assert!(number > 0, "the model panics");
        Ok(ModelMessage::text("Yes."))
    });
    host.submit("a").await;
    host.worker(&model)
        .most_attempts(1)
        .build()
        .unwrap()
        .run_until_idle()
        .await;
    assert_eq!(host.row("a").await.cause, Some(WorkCause::Failed));
    host.submit("b").await;
    host.worker(&model).build().unwrap().run_until_idle().await;
    assert_eq!(host.row("b").await.cause, Some(WorkCause::Done));
}

// If another drive of the conversation is active, the conversation is queued again until that drive has
// ended.
#[tokio::test]
async fn busy_conversation_is_queued_again() {
    let host = Host::new();
    let blocker = Blocker::default();
    let other = host.runtime(Agent::builder("chief", blocker.model("First.")));
    let driving = tokio::spawn(async move { other.respond("chief", "Go.", &cx("main")).await });
    blocker.began.notified().await;
    host.submit("main").await;
    let model = Replies::text("Second.");
    let worker = host.worker(&model).build().unwrap();
    let stop = CancellationToken::new();
    let running = {
        let stop = stop.clone();
        tokio::spawn(async move { worker.run(stop).await })
    };
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(model.requests(), 0);
    blocker.go.notify_one();
    driving.await.unwrap().unwrap();
    let row = host
        .until("main", |row| row.state == WorkState::Ended)
        .await;
    assert_eq!((row.cause, row.attempts), (Some(WorkCause::Done), 0));
    assert_eq!(host.counts("main").await, [2, 2, 0]);
    stop.cancel();
    running.await.unwrap();
}

// The agent whose threads are claimed first changes with each claim, so that the long queue of one agent does not delay the threads of another one.
#[tokio::test]
async fn agents_are_claimed_in_turn() {
    let host = Host::new();
    let order = Arc::new(Mutex::new(Vec::new()));
    let entry = |name: &'static str| {
        let order = Arc::clone(&order);
        let model = Replies::new(move |_| {
            order.lock().unwrap().push(name);
            async { Ok(ModelMessage::text("Yes.")) }
        });
        AgentEntry::new(Agent::builder(name, model).build().unwrap())
    };
    let runtime = AgentRuntime::builder(host.turns(), &host.gate);
    let runtime = runtime.agent(entry("busy")).agent(entry("rare"));
    let queue = AgentQueue::new(host.store.clone())
        .agent("busy", "1")
        .agent("rare", "1");
    for conversation in ["a", "b", "c"] {
        queue
            .submit("busy", "Go.", &cx(conversation))
            .await
            .unwrap();
    }
    queue.submit("rare", "Go.", &cx("d")).await.unwrap();
    let worker = Worker::builder(&runtime.build().unwrap(), &queue).threads(1);
    worker.build().unwrap().run_until_idle().await;
    let order = order.lock().unwrap();
    assert_eq!(order.len(), 4);
    assert!(order[..2].contains(&"rare"), "{order:?}");
}

// A worker keeps its claim while a sub-agent of the conversation runs in the background, and the agent reads the outcome.
#[tokio::test]
async fn claim_is_kept_until_sub_agents_have_ended() {
    let host = Host::new();
    let blocker = Blocker::default();
    let chief = Replies::new(|number| async move {
        Ok(match number {
            0 => ModelMessage::calls([ToolCall::new("c-1", "researcher", r#"{"message":"Dig."}"#)]),
            1 => ModelMessage::text("I wait."),
            _ => ModelMessage::text("It is deep."),
        })
    });
    let researcher = Agent::builder("researcher", blocker.model("1,308 m."));
    let entry = AgentEntry::new(Agent::builder("chief", chief.clone()).build().unwrap());
    let runtime = AgentRuntime::builder(host.turns(), &host.gate)
        .children(host.store.clone())
        .agent(entry.subagent(Subagent::new("researcher").blocking(false)))
        .agent(
            AgentEntry::new(researcher.build().unwrap())
                .autonomous()
                .expose("Digs."),
        )
        .build()
        .unwrap();
    let worker = Worker::builder(&runtime, &host.queue)
        .lease(LEASE)
        .poll(Duration::from_millis(10));
    let worker = worker.build().unwrap();
    host.submit("main").await;
    let running = tokio::spawn(async move { worker.run_until_idle().await });
    blocker.began.notified().await;
    tokio::time::sleep(LEASE * 2).await;
    let row = host.row("main").await;
    assert_eq!((row.state, row.recoveries), (WorkState::Claimed, 0));
    blocker.go.notify_one();
    running.await.unwrap();
    assert_eq!(host.row("main").await.cause, Some(WorkCause::Done));
    let last = host.turns().last(&cx("main")).await.unwrap().unwrap();
    assert_eq!(last.message().text, "It is deep.");
    let children = runtime.children(&cx("main")).await.unwrap();
    assert_eq!(
        (children.len(), children[0].state),
        (1, ChildState::Terminated)
    );
}

// A conversation does not end while a sub-agent is unfinished that this process cannot run, for example because its set of agents is older. The
// conversation is queued again, for a process that can run the sub-agent.
#[tokio::test]
async fn conversation_of_a_stalled_sub_agent_is_queued_again() {
    let host = Host::new();
    let (parent, child) = (thread("main"), thread("sub_1"));
    let now = Timestamp::now();
    let row = ChildRow::new(child, parent, ChildKind::Subagent, "newcomer", now);
    host.store.open_child(row, None, Vec::new()).await.unwrap();
    host.submit("main").await;
    let model = Replies::text("Yes.");
    let worker = host.worker(&model).retry(Duration::from_mins(1));
    let worker = worker.build().unwrap();
    let idle = tokio::time::timeout(Duration::from_secs(9), worker.run_until_idle());
    assert!(idle.await.is_ok());
    let row = host.row("main").await;
    assert_eq!((row.state, row.attempts), (WorkState::Queued, 0));
    assert_eq!(model.requests(), 1);
    let wait = row.ready.unwrap().as_millis() - row.updated.as_millis();
    assert!(wait >= 60_000, "{wait} ms");
}

/// The usage that the models of the next test report for each request, and the output that is reserved for it.
const USED: u64 = 10_000;

// The runs of a worker and a sub-agent in the background share the budget that the context of the worker has. If it is used up, the conversation ends.
#[tokio::test]
async fn worker_and_background_sub_agents_share_a_budget() {
    for (limit, fits) in [(4 * USED, true), (3 * USED + USED / 2, false)] {
        let host = Host::new();
        let used = |mut message: ModelMessage| {
            message.usage = Some(Usage {
                output_tokens: USED,
                ..Usage::default()
            });
            message
        };
        let chief = Replies::new(move |number| async move {
            let call = ToolCall::new("c-1", "researcher", r#"{"message":"Dig."}"#);
            Ok(used(match number {
                0 => ModelMessage::calls([call]),
                1 => ModelMessage::text("I wait."),
                _ => ModelMessage::text("It is deep."),
            }))
        });
        let researcher =
            Replies::new(move |_| async move { Ok(used(ModelMessage::text("1,308 m."))) });
        let entry = |name: &str, model: &Replies| {
            AgentEntry::new(Agent::builder(name, model.clone()).build().unwrap())
        };
        let subagent = Subagent::new("researcher").blocking(false);
        let researcher_entry = entry("researcher", &researcher);
        let runtime = AgentRuntime::builder(host.turns(), &host.gate)
            .children(host.store.clone())
            .agent(entry("chief", &chief).subagent(subagent))
            .agent(researcher_entry.autonomous().expose("Digs."))
            .build()
            .unwrap();
        let store = host.store.clone();
        let worker = Worker::builder(&runtime, &host.queue)
            .poll(Duration::from_millis(10))
            .context(move |row: WorkRow| {
                let budget = Budget::new(store.clone(), "main").output_tokens(USED - 1_000);
                let cx = cx(row.thread.conversation()).derive();
                let cx = cx.with(budget.most_tokens(limit)).build();
                async move { Ok(cx) }
            });
        host.submit("main").await;
        worker.build().unwrap().run_until_idle().await;
        assert_eq!(host.row("main").await.cause, Some(WorkCause::Done));
        let id = BudgetId::new(&Workspace::new("acme"), "main").unwrap();
        let row = host.store.budget(&id).await.unwrap().unwrap();
        let requests = chief.requests() + researcher.requests();
        assert_eq!(requests, if fits { 4 } else { 3 }, "{row:?}");
        let spent = USED * u64::try_from(requests).unwrap();
        assert_eq!(
            (row.spent.tokens, row.reserved),
            (spent, BudgetAmount::default())
        );
        let filter = RunFilter {
            conversation: Some("main".to_owned()),
            ..RunFilter::default()
        };
        let runs = host.store.list_runs(Scope::All, &filter).await.unwrap();
        let expected = if fits {
            RunCause::Replied
        } else {
            RunCause::SharedBudget
        };
        assert_eq!(runs[0].cause, Some(expected), "{limit}");
    }
}
