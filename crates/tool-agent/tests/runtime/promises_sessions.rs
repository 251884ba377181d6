//! Sessions of sub-agents that fail, wait, are terminated or are cancelled.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use futures::future::join;
use serde_json::json;
use tool_agent::agent::Agent;
use tool_agent::runtime::{
    AgentResult, AgentRuntime, Handoff, ParentCommunication, PromptTool, ResultStatus, Resumable,
    Session, Side, SpawnGate, Subagent,
};
use tool_core::prelude::*;
use tool_core::store::{
    ChildState, MemoryStore, Message, NewMessage, Role, RunFilter, RunState, StoreError,
    StoreFuture, ThreadId, ThreadStore, Timestamp, Workspace,
};
use tool_core::turn::{Outcome, Turns};

use crate::promises::{Held, Hold, approve, commander, create, make, payment, send, slow, stored};
use crate::support::{
    Host, Log, agent, calls, context, entry, in_conversation, only_child, payload, results, text,
    thinking, worker,
};

fn resumable() -> Subagent {
    Subagent::new("worker").resumable(Resumable::new())
}

pub(crate) fn background() -> Subagent {
    Subagent::new("worker").blocking(false)
}

/// Returns a worker whose second session calls `pay` once.
fn payer(log: &Log) -> tool_agent::agent::AgentBuilder {
    let payer = thinking("worker", log, |request| {
        let pays = request.texts(Role::User).len() == 2 && request.step() == 0;
        Ok(if pays {
            calls([("pay", json!({}))])
        } else {
            text("Paid.")
        })
    });
    payer.tools(|_| payment())
}

// A session whose model fails ends once as failed, even if it is not the first session of the thread.
#[tokio::test]
async fn failed_second_session_ends() {
    let (host, log) = (Host::new(), Log::default());
    let failing = thinking("worker", &log, |request| {
        if request.texts(Role::User).len() == 1 {
            Ok(text("Answer."))
        } else {
            Err(ToolError::new("no network"))
        }
    });
    let runtime = host
        .runtime()
        .agent(entry(commander(&log, "worker")).subagent(resumable()))
        .agent(worker(failing))
        .build()
        .unwrap();
    let cx = context().build();
    runtime.respond("chief", "create Go.", &cx).await.unwrap();
    let again = runtime.respond("chief", "send Again.", &cx);
    // If a session is repeated forever, the timeout fails the test.
    let again = tokio::time::timeout(Duration::from_secs(4), again).await;
    assert!(again.is_ok(), "{} requests", log.of("worker").len());
    let row = only_child(&runtime, &cx).await;
    assert_eq!((row.state, row.session), (ChildState::Failed, 2));
    assert_eq!(log.of("worker").len(), 2);
}

/// Ends the session.
#[tool(read_only)]
fn finish() -> &'static str {
    "finished"
}

// After a tool has ended a session, a message for side B begins the next one, and the partner reads the
// message.
#[tokio::test]
async fn partner_reads_the_message_of_the_second_session() {
    let (host, log) = (Host::new(), Log::default());
    let partner = thinking("partner", &log, |request| {
        Ok(text(&format!("partner heard {}", request.last(Role::User))))
    });
    let session = Session::new()
        .partner(partner.build().unwrap())
        .stop_tool("finish");
    let ending = agent("worker", &log, [calls([("finish", json!({}))])]);
    let tool = Subagent::new("worker").resumable(Resumable::new().receives_messages(Side::B));
    let runtime = host
        .runtime()
        .agent(entry(commander(&log, "worker")).subagent(tool))
        .agent(worker(ending.tools(|_| toolset![finish])).session(session))
        .build()
        .unwrap();
    let cx = context().build();
    runtime.respond("chief", "create Go.", &cx).await.unwrap();
    runtime.respond("chief", "send Again.", &cx).await.unwrap();
    let heard = log.of("partner");
    assert_eq!(heard.len(), 2);
    assert_eq!(heard[1].last(Role::User), "Again.");
    assert_eq!(
        log.of("worker").pop().unwrap().last(Role::User),
        "partner heard Again."
    );
}

/// Approves a call of the second session. Returns the number of answers that were delivered as messages.
async fn reports_of_an_approved_session(is_driven_before: bool) -> usize {
    let (host, log) = (Host::new(), Log::default());
    let runtime = host
        .runtime()
        .agent(entry(commander(&log, "worker")).subagent(resumable()))
        .agent(worker(payer(&log)))
        .build()
        .unwrap();
    let cx = context().build();
    runtime.respond("chief", "create Go.", &cx).await.unwrap();
    let outcome = runtime.respond("chief", "send Pay.", &cx).await.unwrap();
    assert!(matches!(outcome, Outcome::Waiting(_)), "{outcome:?}");
    if is_driven_before {
        runtime.drive("chief", &cx).await.unwrap();
        runtime.idle().await;
    }
    let row = only_child(&runtime, &cx).await;
    assert_eq!(approve(&host, &row.thread).await, 1);
    let outcome = runtime.drive("chief", &cx).await.unwrap();
    assert!(matches!(outcome, Outcome::Answered(_)), "{outcome:?}");
    runtime.idle().await;
    let result = results(&host, &cx).await.pop().unwrap();
    assert!(result.text.starts_with("Paid."), "{}", result.text);
    stored(&host, &cx).await.matches("subagent_result").count()
}

// If a session waited for an approval, its answer is the result of its call, and is not delivered as a
// message as well.
#[tokio::test]
async fn answer_of_an_approved_session_is_delivered_once() {
    for is_driven_before in [false, true] {
        assert_eq!(reports_of_an_approved_session(is_driven_before).await, 0);
    }
}

// The answer is delivered once also if the parent and the sub-agent run in two OS threads.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answer_of_an_approved_session_is_delivered_once_in_threads() {
    for _ in 0..10 {
        assert_eq!(reports_of_an_approved_session(false).await, 0);
    }
}

// If one instance is allowed and its session waits for an approval, the creation that began the session continues it, and does not send its message
// again.
#[tokio::test]
async fn creation_of_the_only_instance_is_not_repeated() {
    let (host, log) = (Host::new(), Log::default());
    let tool = Subagent::new("worker").resumable(Resumable::new().most_instances(1));
    let paying = agent("worker", &log, [calls([("pay", json!({}))]), text("Paid.")]);
    let runtime = host
        .runtime()
        .agent(entry(commander(&log, "worker")).subagent(tool))
        .agent(worker(paying.tools(|_| payment())))
        .build()
        .unwrap();
    let cx = context().build();
    let outcome = runtime.respond("chief", "create Go.", &cx).await.unwrap();
    assert!(matches!(outcome, Outcome::Waiting(_)), "{outcome:?}");
    let row = only_child(&runtime, &cx).await;
    assert_eq!(approve(&host, &row.thread).await, 1);
    runtime.drive("chief", &cx).await.unwrap();
    let row = only_child(&runtime, &cx).await;
    assert_eq!((row.state, row.session), (ChildState::Idle, 1));
    let child = stored(&host, &in_conversation(row.thread.conversation())).await;
    assert_eq!(child.matches("user: \"Go.\"").count(), 1, "{child}");
    assert!(results(&host, &cx).await[0].text.starts_with("Paid."));

    // After the instance was terminated, a creation starts another one.
    let reference = row.thread.conversation();
    runtime.terminate(reference, &cx).await.unwrap();
    runtime.respond("chief", "create Go.", &cx).await.unwrap();
    assert_eq!(runtime.children(&cx).await.unwrap().len(), 2);
}

// Two messages to a sub-agent in one reply of the model are stored once each, even if calls may run in any order and the first session waits for an approval.
#[tokio::test]
async fn messages_of_one_reply_are_stored_once() {
    let (host, log) = (Host::new(), Log::default());
    let runtime = AgentRuntime::builder(host.turns().relaxed_order(), &host.gate)
        .children(host.store.clone())
        .agent(entry(commander(&log, "worker")).subagent(resumable()))
        .agent(worker(payer(&log)))
        .build()
        .unwrap();
    let cx = context().build();
    runtime.respond("chief", "create Go.", &cx).await.unwrap();
    runtime.respond("chief", "send-two", &cx).await.unwrap();
    let row = only_child(&runtime, &cx).await;
    approve(&host, &row.thread).await;
    runtime.drive("chief", &cx).await.unwrap();
    runtime.idle().await;
    let child = stored(&host, &in_conversation(row.thread.conversation())).await;
    for message in ["user: \"first\"", "user: \"second\""] {
        assert_eq!(child.matches(message).count(), 1, "{child}");
    }
}

// A sub-agent that is terminated before its background task runs makes no calls and delivers nothing.
#[tokio::test]
async fn sub_agent_that_is_terminated_before_its_session_does_nothing() {
    let (host, log) = (Host::new(), Log::default());
    let made = Arc::new(AtomicU32::new(0));
    let tools = make(&made);
    let maker = agent(
        "worker",
        &log,
        [calls([("make", json!({}))]), text("Made.")],
    );
    let runtime = host
        .runtime()
        .agent(entry(commander(&log, "worker")).subagent(background()))
        .agent(worker(maker.tools(move |_| tools.clone())))
        .build()
        .unwrap();
    let cx = context().build();
    runtime.respond("chief", "call Go.", &cx).await.unwrap();
    let row = only_child(&runtime, &cx).await;
    let ended = runtime.terminate(row.thread.conversation(), &cx).await;
    assert_eq!(ended.unwrap().state, ChildState::Terminated);
    runtime.idle().await;
    assert_eq!(made.load(Ordering::SeqCst), 0);
    assert!(log.of("worker").is_empty());
    assert!(!stored(&host, &cx).await.contains("subagent_result"));
}

// The outcome of a sub-agent that is terminated during a call is not delivered.
#[tokio::test]
async fn terminated_sub_agent_is_not_delivered() {
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
    let ended = runtime.terminate(row.thread.conversation(), &cx).await;
    assert_eq!(ended.unwrap().state, ChildState::Terminated);
    hold.release(1);
    runtime.idle().await;
    assert!(!stored(&host, &cx).await.contains("subagent_result"));
}

// If a sub-agent is terminated while its partner writes, it does not act on the reply of the partner.
#[tokio::test]
async fn sub_agent_that_is_terminated_during_its_partner_does_nothing() {
    let (host, log, hold) = (Host::new(), Log::default(), Hold::new());
    let made = Arc::new(AtomicU32::new(0));
    let tools = make(&made);
    let maker = thinking("worker", &log, |request| {
        Ok(if request.texts(Role::User).len() == 1 {
            text("Which one?")
        } else if request.step() == 0 {
            calls([("make", json!({}))])
        } else {
            text("Made.")
        })
    });
    let partner = Agent::builder("partner", Held(hold.clone())).build();
    let session = Session::new().partner(partner.unwrap()).most_turns(2);
    let runtime = host
        .runtime()
        .agent(entry(commander(&log, "worker")).subagent(background()))
        .agent(worker(maker.tools(move |_| tools.clone())).session(session))
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
    assert!(!stored(&host, &cx).await.contains("subagent_result"));
}

// If a sub-agent is terminated after its session has ended, the sub-agents below it are terminated, too, and their approvals are withdrawn.
#[tokio::test]
async fn termination_includes_sub_agents_of_an_ended_session() {
    let (host, log) = (Host::new(), Log::default());
    let middle = agent(
        "middle",
        &log,
        [
            calls([("worker", json!({"message": "Go."}))]),
            text("Middle."),
        ],
    );
    let paying = agent("worker", &log, [calls([("pay", json!({}))]), text("Paid.")]);
    let runtime = host
        .runtime()
        .agent(
            entry(commander(&log, "middle"))
                .subagent(Subagent::new("middle").resumable(Resumable::new())),
        )
        .agent(
            worker(middle)
                .subagent(background())
                .spawn(SpawnGate::default().most_depth(2)),
        )
        .agent(worker(paying.tools(|_| payment())))
        .build()
        .unwrap();
    let cx = context().build();
    runtime.respond("chief", "create Go.", &cx).await.unwrap();
    runtime.idle().await;
    let row = only_child(&runtime, &cx).await;
    assert_eq!(row.state, ChildState::Idle);
    let middle = in_conversation(row.thread.conversation());
    let below = only_child(&runtime, &middle).await;
    assert_eq!(below.state, ChildState::AwaitingHuman);
    let approvals = host.gate.approvals().unwrap();
    assert_eq!(approvals.waiting(&below.thread).await.unwrap().len(), 1);

    let reference = row.thread.conversation();
    runtime.terminate(reference, &cx).await.unwrap();
    let below = only_child(&runtime, &middle).await;
    assert_eq!(below.state, ChildState::Terminated);
    assert!(approvals.waiting(&below.thread).await.unwrap().is_empty());
    runtime.idle().await;
    assert_eq!(log.of("worker").len(), 1);
}

// A sub-agent can send messages to its own instances in its next session.
#[tokio::test]
async fn sub_agent_keeps_its_instances_between_sessions() {
    let (host, log) = (Host::new(), Log::default());
    let middle = thinking("middle", &log, |request| {
        Ok(if request.step() > 0 {
            text("Middle.")
        } else if request.texts(Role::User).len() == 1 {
            create("worker", "Go.")
        } else {
            calls([send(request, "More.")])
        })
    });
    let runtime = host
        .runtime()
        .agent(
            entry(commander(&log, "middle"))
                .subagent(Subagent::new("middle").resumable(Resumable::new())),
        )
        .agent(
            worker(middle)
                .subagent(resumable())
                .spawn(SpawnGate::default().most_depth(2)),
        )
        .agent(worker(agent("worker", &log, [text("Answer.")])))
        .build()
        .unwrap();
    let cx = context().build();
    runtime.respond("chief", "create Go.", &cx).await.unwrap();
    runtime.respond("chief", "send Go on.", &cx).await.unwrap();
    let requests = log.of("middle");
    assert_eq!(requests.len(), 4);
    assert!(requests[2].tools.contains(&"subagent_message".to_owned()));
    assert_eq!(log.of("worker")[1].texts(Role::User), ["Go.", "More."]);
}

// A prompt that continues after an approval can send messages to the instances that it created before.
#[tokio::test]
async fn prompt_keeps_its_instances_during_a_wait() {
    let (host, log) = (Host::new(), Log::default());
    let helper = thinking("helper", &log, |request| {
        Ok(match request.step() {
            0 => create("worker", "Go."),
            1 => calls([("pay", json!({}))]),
            2 => calls([send(request, "More.")]),
            _ => text("Done."),
        })
    });
    let runtime = host
        .runtime()
        .agent(entry(commander(&log, "helper")).prompt(PromptTool::new("helper")))
        .agent(
            entry(helper.tools(|_| payment()))
                .expose("Helps.")
                .subagent(resumable()),
        )
        .agent(worker(agent("worker", &log, [text("Answer.")])))
        .build()
        .unwrap();
    let cx = context().build();
    let outcome = runtime.respond("chief", "call Go.", &cx).await.unwrap();
    assert!(matches!(outcome, Outcome::Waiting(_)), "{outcome:?}");
    let row = only_child(&runtime, &cx).await;
    assert_eq!(approve(&host, &row.thread).await, 1);
    runtime.drive("chief", &cx).await.unwrap();
    assert_eq!(log.of("worker").len(), 2);
    assert_eq!(log.of("worker")[1].last(Role::User), "More.");
}

// A tool that should end the session ends it only if its call succeeds.
#[tokio::test]
async fn failed_call_of_the_stop_tool_ends_no_session() {
    /// Ends the session, if it is called again.
    #[tool(read_only)]
    fn deliver(
        /// Whether the work is complete.
        complete: bool,
    ) -> Result<&'static str, ToolError> {
        if complete {
            Ok("delivered")
        } else {
            Err(ToolError::new("not complete"))
        }
    }

    let (host, log) = (Host::new(), Log::default());
    let attempt = |complete: bool| calls([("deliver", json!({"complete": complete}))]);
    let delivering = agent("worker", &log, [attempt(false), attempt(true)]);
    let runtime = host
        .runtime()
        .agent(entry(commander(&log, "worker")).subagent(Subagent::new("worker")))
        .agent(
            worker(delivering.tools(|_| toolset![deliver]))
                .session(Session::new().stop_tool("deliver")),
        )
        .build()
        .unwrap();
    let cx = context().build();
    runtime.respond("chief", "call Go.", &cx).await.unwrap();
    let result = results(&host, &cx).await.pop().unwrap();
    assert_eq!((result.is_error(), &*result.text), (false, "delivered"));
    assert_eq!(log.of("worker").len(), 2);
}

// If the store of child threads is not the store of the turns, an agent would not read its message, so no request is sent for it.
#[tokio::test]
async fn children_in_another_store_are_refused() {
    for as_prompt in [false, true] {
        let (host, log) = (Host::new(), Log::default());
        let chief = entry(commander(&log, "worker"));
        let chief = if as_prompt {
            chief.prompt(PromptTool::new("worker"))
        } else {
            chief.subagent(Subagent::new("worker"))
        };
        let runtime = AgentRuntime::builder(host.turns(), &host.gate)
            .children(MemoryStore::default())
            .agent(chief)
            .agent(worker(agent("worker", &log, [text("Answer.")])))
            .build()
            .unwrap();
        let cx = context().build();
        let turn = runtime.respond("chief", "call Go.", &cx);
        let outcome = tokio::time::timeout(Duration::from_secs(9), turn).await;
        assert!(
            matches!(outcome, Ok(Ok(Outcome::Answered(_)))),
            "{outcome:?}"
        );
        let result = payload(&results(&host, &cx).await[0]);
        assert_eq!(result.status, ResultStatus::Error, "{as_prompt}");
        assert!(log.of("worker").is_empty(), "{as_prompt}");
    }
}

// A tool that ends a session as failed makes the result an error, even if the tool returns the result of a success.
#[tokio::test]
async fn result_of_the_fail_tool_is_an_error() {
    /// Ends the session as failed.
    #[tool(read_only)]
    fn fail() -> Result<AgentResult, ToolError> {
        Ok(AgentResult::success("half of the table"))
    }

    let (host, log) = (Host::new(), Log::default());
    let failing = agent("worker", &log, [calls([("fail", json!({}))])]);
    let runtime = host
        .runtime()
        .agent(entry(commander(&log, "worker")).subagent(Subagent::new("worker")))
        .agent(worker(failing.tools(|_| toolset![fail])).session(Session::new().fail_tool("fail")))
        .build()
        .unwrap();
    let cx = context().build();
    runtime.respond("chief", "call Go.", &cx).await.unwrap();
    let result = payload(&results(&host, &cx).await[0]);
    assert_eq!(result.status, ResultStatus::Error);
    assert_eq!(result.error.as_deref(), Some("half of the table"));
}

// With explicit communication, the end of a session delivers nothing, even if the conversation was passed to a different agent in the meantime.
#[tokio::test]
async fn explicit_communication_holds_after_a_handoff() {
    let (host, log) = (Host::new(), Log::default());
    let chief = thinking("chief", &log, |request| {
        Ok(if request.step() == 0 {
            create("worker", "Go.")
        } else {
            calls([("transfer_to_clerk", json!({}))])
        })
    });
    let paying = agent("worker", &log, [calls([("pay", json!({}))]), text("Paid.")]);
    let explicit = Resumable::new().parent_communication(ParentCommunication::Explicit);
    let runtime = host
        .runtime()
        .agent(
            entry(chief)
                .handoff(Handoff::to("clerk"))
                .subagent(background().resumable(explicit)),
        )
        .agent(entry(agent("clerk", &log, [text("Here.")])).subagent(Subagent::new("other")))
        .agent(worker(agent("other", &log, [text("Other.")])))
        .agent(worker(paying.tools(|_| payment())))
        .build()
        .unwrap();
    let cx = context().build();
    runtime.respond("chief", "Go.", &cx).await.unwrap();
    runtime.idle().await;
    let row = only_child(&runtime, &cx).await;
    assert_eq!(approve(&host, &row.thread).await, 1);
    runtime.drive("chief", &cx).await.unwrap();
    runtime.idle().await;
    assert_eq!(only_child(&runtime, &cx).await.state, ChildState::Idle);
    assert!(!stored(&host, &cx).await.contains("subagent_result"));
}

/// Cancels the active run of the conversation, and not its sub-agents.
pub(crate) async fn cancel_run(host: &Host) {
    let filter = RunFilter {
        conversation: Some("main".to_owned()),
        state: Some(RunState::Running),
        ..RunFilter::default()
    };
    let turns = host.turns();
    let acme = Workspace::new("acme");
    for run in turns.runs(&acme, &filter).await.unwrap() {
        turns.cancel(&run.id).await.unwrap();
    }
}

// A resumable sub-agent whose call is cancelled stops before its next effect, and the next message of the user does not continue it.
#[tokio::test]
async fn cancelled_sub_agent_does_not_continue() {
    let (host, log, hold) = (Host::new(), Log::default(), Hold::new());
    let made = Arc::new(AtomicU32::new(0));
    let tools = slow(&hold).combine(&make(&made)).unwrap();
    let maker = agent(
        "worker",
        &log,
        [
            calls([("slow", json!({}))]),
            calls([("make", json!({}))]),
            text("Made."),
        ],
    );
    let runtime = host
        .runtime()
        .agent(entry(commander(&log, "worker")).subagent(resumable()))
        .agent(worker(maker.tools(move |_| tools.clone())))
        .build()
        .unwrap();
    let cx = context().build();
    let cancel = async {
        hold.begun(1).await;
        cancel_run(&host).await;
    };
    let turn = runtime.respond("chief", "create Go.", &cx);
    let (outcome, ()) = join(turn, cancel).await;
    assert!(matches!(outcome, Ok(Outcome::Cancelled)), "{outcome:?}");
    // The session has ended together with the run of its parent.
    let state = only_child(&runtime, &cx).await.state;
    assert_eq!(state, ChildState::Failed);
    hold.release(1);
    runtime.respond("chief", "Hello.", &cx).await.unwrap();
    runtime.idle().await;
    assert_eq!(made.load(Ordering::SeqCst), 0);
    let state = only_child(&runtime, &cx).await.state;
    assert_eq!(state, ChildState::Failed);
}

/// A store of threads that refuses the messages of child threads while a switch is on.
#[derive(Clone)]
struct Refusing(MemoryStore, Arc<AtomicBool>);

impl ThreadStore for Refusing {
    fn append(&self, message: NewMessage) -> StoreFuture<'_, u64> {
        if message.thread.conversation() != "main" && self.1.load(Ordering::SeqCst) {
            return Box::pin(async { Err(StoreError::Unavailable("no network".into())) });
        }
        self.0.append(message)
    }

    fn read<'a>(
        &'a self,
        thread: &'a ThreadId,
        after: Option<u64>,
    ) -> StoreFuture<'a, Vec<Message>> {
        ThreadStore::read(&self.0, thread, after)
    }

    fn message_at<'a>(
        &'a self,
        thread: &'a ThreadId,
        role: Role,
        at: Timestamp,
    ) -> StoreFuture<'a, Option<u64>> {
        self.0.message_at(thread, role, at)
    }

    fn erase<'a>(&'a self, thread: &'a ThreadId) -> StoreFuture<'a, u64> {
        ThreadStore::erase(&self.0, thread)
    }
}

// If the results of the cancelled calls of a sub-agent cannot be stored, its session does not end, so its next session does not run the calls. The next
// run of the parent stores the results and ends the session.
#[tokio::test]
async fn cancelled_session_ends_after_its_results_are_stored() {
    let (host, log, hold) = (Host::new(), Log::default(), Hold::new());
    let fails = Arc::new(AtomicBool::new(false));
    let threads = Refusing(host.store.clone(), fails.clone());
    let turns = Turns::shared(Arc::new(threads), Arc::new(host.store.clone()));
    let tools = slow(&hold);
    let waiting = agent(
        "worker",
        &log,
        [calls([("slow", json!({}))]), text("Done.")],
    );
    let runtime = AgentRuntime::builder(turns.lease(Duration::from_millis(200)), &host.gate)
        .children(host.store.clone())
        .agent(entry(commander(&log, "worker")).subagent(resumable()))
        .agent(worker(waiting.tools(move |_| tools.clone())))
        .build()
        .unwrap();
    let cx = context().build();
    let cancel = async {
        hold.begun(1).await;
        fails.store(true, Ordering::SeqCst);
        cancel_run(&host).await;
    };
    let turn = runtime.respond("chief", "create Go.", &cx);
    let (outcome, ()) = join(turn, cancel).await;
    assert!(matches!(outcome, Ok(Outcome::Cancelled)), "{outcome:?}");
    let row = only_child(&runtime, &cx).await;
    assert_eq!(row.state, ChildState::Running);
    let child = in_conversation(row.thread.conversation());
    assert!(results(&host, &child).await.is_empty());

    fails.store(false, Ordering::SeqCst);
    runtime.respond("chief", "Hello.", &cx).await.unwrap();
    runtime.idle().await;
    let state = only_child(&runtime, &cx).await.state;
    assert_eq!(state, ChildState::Failed);
    let results = results(&host, &child).await;
    assert_eq!(results.len(), 1, "{results:?}");
    assert!(results[0].is_error(), "{results:?}");
    assert_eq!(log.of("worker").len(), 1);
}

// If the results of the cancelled calls of a sub-agent in the background cannot be stored, the cancellation fails and says so, because the session would
// continue with the next run of the conversation. Another cancellation ends it.
#[tokio::test]
async fn cancellation_that_ends_no_session_in_the_background_fails() {
    let (host, log) = (Host::new(), Log::default());
    let fails = Arc::new(AtomicBool::new(false));
    let threads = Refusing(host.store.clone(), fails.clone());
    let turns = Turns::shared(Arc::new(threads), Arc::new(host.store.clone()));
    let paying = agent("worker", &log, [calls([("pay", json!({}))]), text("Done.")]);
    let runtime = AgentRuntime::builder(turns, &host.gate)
        .children(host.store.clone())
        .agent(entry(commander(&log, "worker")).subagent(resumable().blocking(false)))
        .agent(worker(paying.tools(|_| payment())))
        .build()
        .unwrap();
    let cx = context().build();
    runtime.respond("chief", "create Go.", &cx).await.unwrap();
    runtime.idle().await;
    let row = only_child(&runtime, &cx).await;
    assert_eq!(row.state, ChildState::AwaitingHuman);

    fails.store(true, Ordering::SeqCst);
    let refused = runtime.cancel("chief", &cx).await.unwrap_err();
    assert!(
        refused
            .to_string()
            .contains("cancel the conversation again"),
        "{refused}"
    );

    fails.store(false, Ordering::SeqCst);
    runtime.cancel("chief", &cx).await.unwrap();
    let state = only_child(&runtime, &cx).await.state;
    assert_eq!(state, ChildState::Failed);
    let child = in_conversation(row.thread.conversation());
    let results = results(&host, &child).await;
    assert_eq!(results.len(), 1, "{results:?}");
    assert!(results[0].is_error(), "{results:?}");
    assert_eq!(log.of("worker").len(), 1);
}

// A message that arrives during the last request of a session is read by this session, and the outcome that is delivered is the answer to that
// message.
#[tokio::test]
async fn message_during_the_last_request_is_read_by_the_session() {
    let (host, log, hold) = (Host::new(), Log::default(), Hold::new());
    let waiting = Agent::builder("worker", Held(hold.clone()));
    let runtime = host
        .runtime()
        .agent(entry(commander(&log, "worker")).subagent(background().resumable(Resumable::new())))
        .agent(worker(waiting))
        .build()
        .unwrap();
    let cx = context().build();
    runtime.respond("chief", "create Go.", &cx).await.unwrap();
    hold.begun(1).await;
    runtime.respond("chief", "send More.", &cx).await.unwrap();
    hold.release(2);
    runtime.idle().await;
    let row = only_child(&runtime, &cx).await;
    assert_eq!((row.state, row.session), (ChildState::Idle, 1));
    let messages = stored(&host, &cx).await;
    assert_eq!(messages.matches("subagent_result").count(), 1);
    assert!(messages.contains("held 2"), "{messages}");
}

// If two processes continue one session, both may request a reply of the partner, and one reply is stored.
#[tokio::test]
async fn reply_of_a_partner_is_stored_once() {
    let (store, log, hold) = (MemoryStore::default(), Log::default(), Hold::new());
    let build = |host: &Host| {
        let counting = thinking("worker", &log, |request| {
            Ok(text(&format!("turn {}", request.texts(Role::User).len())))
        });
        let partner = Agent::builder("partner", Held(hold.clone())).build();
        let session = Session::new().partner(partner.unwrap()).most_turns(2);
        host.runtime()
            .agent(entry(commander(&log, "worker")).subagent(background()))
            .agent(worker(counting).session(session))
            .build()
            .unwrap()
    };
    let (one, two) = (Host::with(store.clone()), Host::with(store));
    let (first, second) = (build(&one), build(&two));
    let cx = context().build();
    first.respond("chief", "call Go.", &cx).await.unwrap();
    hold.begun(1).await;
    second.drive("chief", &cx).await.unwrap();
    hold.begun(2).await;
    hold.release(2);
    first.idle().await;
    second.idle().await;
    let row = only_child(&first, &cx).await;
    let child = stored(&one, &in_conversation(row.thread.conversation())).await;
    assert_eq!(child.matches("user: \"held").count(), 1, "{child}");
    assert_eq!(row.delivered, 1);
}

// A session that waited for an approval has one limit on turns, before and after the wait together.
#[tokio::test]
async fn turns_are_counted_across_a_pause() {
    let (host, log) = (Host::new(), Log::default());
    let paying = thinking("worker", &log, |request| {
        let turn = request.texts(Role::User).len();
        Ok(if turn == 2 && request.step() == 0 {
            calls([("pay", json!({}))])
        } else {
            text(&format!("turn {turn}"))
        })
    });
    let partner = agent("partner", &log, [text("Go on.")]).build().unwrap();
    let session = Session::new().partner(partner).most_turns(2);
    let runtime = host
        .runtime()
        .agent(entry(commander(&log, "worker")).subagent(Subagent::new("worker")))
        .agent(worker(paying.tools(|_| payment())).session(session))
        .build()
        .unwrap();
    let cx = context().build();
    runtime.respond("chief", "call Go.", &cx).await.unwrap();
    let row = only_child(&runtime, &cx).await;
    assert_eq!(approve(&host, &row.thread).await, 1);
    runtime.drive("chief", &cx).await.unwrap();
    let child = stored(&host, &in_conversation(row.thread.conversation())).await;
    assert_eq!(child.matches("\"text\":\"turn").count(), 2, "{child}");
    assert_eq!(results(&host, &cx).await[0].text, "turn 2");
}

// If the deadline of the turn passes, the call of the sub-agent stays open. A drive without a deadline continues the same child and delivers its answer once.
#[tokio::test]
async fn call_stays_open_when_the_deadline_passes() {
    let (host, log, hold) = (Host::new(), Log::default(), Hold::new());
    let waiting = Agent::builder("worker", Held(hold.clone()));
    let runtime = host
        .runtime()
        .agent(entry(commander(&log, "worker")).subagent(Subagent::new("worker")))
        .agent(worker(waiting))
        .build()
        .unwrap();
    let limited = context().deadline(Duration::from_millis(300)).build();
    let outcome = runtime.respond("chief", "call Go.", &limited).await;
    assert!(matches!(outcome, Ok(Outcome::Deadline)), "{outcome:?}");
    let cx = context().build();
    let before = only_child(&runtime, &cx).await;
    assert_eq!(before.state, ChildState::Running);
    assert!(results(&host, &cx).await.is_empty());

    hold.release(2);
    let outcome = runtime.drive("chief", &cx).await;
    assert!(matches!(outcome, Ok(Outcome::Answered(_))), "{outcome:?}");
    runtime.idle().await;
    let row = only_child(&runtime, &cx).await;
    assert_eq!(row.thread, before.thread);
    assert_eq!((row.state, row.delivered), (ChildState::Terminated, 1));
    let results = results(&host, &cx).await;
    assert_eq!(results.len(), 1);
    assert!(results[0].text.starts_with("held"), "{}", results[0].text);
    assert!(!stored(&host, &cx).await.contains("subagent_result"));
}

// A message of the user during a session whose call waits does not start a second session, and the answer is delivered once.
#[tokio::test]
async fn message_of_the_user_during_a_session_starts_nothing() {
    let (host, log, hold) = (Host::new(), Log::default(), Hold::new());
    let waiting = Agent::builder("worker", Held(hold.clone()));
    let runtime = host
        .runtime()
        .agent(entry(commander(&log, "worker")).subagent(resumable()))
        .agent(worker(waiting))
        .build()
        .unwrap();
    let cx = context().build();
    let asked = async {
        hold.begun(1).await;
        let busy = runtime.respond("chief", "Are you there?", &cx).await;
        assert!(matches!(busy, Ok(Outcome::Busy(_))), "{busy:?}");
        hold.release(1);
    };
    let turn = runtime.respond("chief", "create Go.", &cx);
    let (outcome, ()) = join(turn, asked).await;
    assert!(matches!(outcome, Ok(Outcome::Answered(_))), "{outcome:?}");
    runtime.idle().await;
    let row = only_child(&runtime, &cx).await;
    assert_eq!((row.state, row.session), (ChildState::Idle, 1));
    assert_eq!(row.delivered, 1);
    assert!(!stored(&host, &cx).await.contains("subagent_result"));
}
