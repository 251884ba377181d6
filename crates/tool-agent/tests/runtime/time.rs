//! Limits on the time of agents, and preparations of a run that take longer than its lease.

#![allow(clippy::disallowed_methods, reason = "a test spawns its own tasks")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures::future::{BoxFuture, FutureExt as _};
use serde_json::json;
use tool_agent::agent::Agent;
use tool_agent::runtime::{AgentBegun, AgentEntry, AgentRuntime, Immediate, Resumable, Subagent};
use tool_core::prelude::*;
use tool_core::store::seal::{NewValue, SealKey, SealKeys, Vault};
use tool_core::store::{
    MemoryStore, NewMessage, NewRun, Role, RunBegun, RunCause, RunEnd, RunFilter, RunProgress,
    RunStore, ThreadId, ThreadStore, Timestamp, VariableScope, VariableType, Workspace,
};
use tool_core::turn::{Model, ModelMessage, ModelRequest, Outcome};
use tool_core::{Effect, Reply};

use crate::support::{Host, Log, agent, calls, context, entry, text, thinking, worker};

/// A model that answers after a time. If `tool` is set, the model answers requests without this tool at once.
#[derive(Clone)]
struct Slow {
    time: Duration,
    tool: Option<&'static str>,
    asked: Arc<AtomicBool>,
}

impl Slow {
    fn new(time: Duration) -> Self {
        Self {
            time,
            tool: None,
            asked: Arc::default(),
        }
    }
}

impl Model for Slow {
    fn next<'a>(
        &'a mut self,
        request: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelMessage, ToolError>> {
        self.asked.store(true, Ordering::SeqCst);
        let is_slow = self
            .tool
            .is_none_or(|tool| request.tools.get(tool).is_some());
        async move {
            if is_slow {
                tokio::time::sleep(self.time).await;
            }
            Ok(text("Hello."))
        }
        .boxed()
    }
}

/// Waits for the time of the context.
#[tool(approval)]
async fn sleep(pause: &Pause) -> u32 {
    tokio::time::sleep(pause.0).await;
    1
}

#[derive(Clone)]
struct Pause(Duration);
tool_core::host_value!(Pause, Effect::READ);

async fn cause(host: &Host) -> Option<RunCause> {
    let filter = RunFilter::default();
    let runs = host.turns().runs(&Workspace::new("acme"), &filter).await;
    runs.unwrap()[0].cause
}

fn main_thread() -> ThreadId {
    ThreadId::new("acme", "main").unwrap()
}

// A run that reaches its limit on time ends in the middle of a request. The next message of the user starts the time again.
#[tokio::test]
async fn run_ends_at_its_limit_on_time() {
    let host = Host::new();
    let slow = Slow::new(Duration::from_mins(1));
    let chief = Agent::builder("chief", slow.clone()).most_time(Duration::from_millis(150));
    let runtime = host.runtime().agent(entry(chief)).build().unwrap();
    let cx = context().build();
    let began = tokio::time::Instant::now();
    let outcome = runtime.respond("chief", "Hello.", &cx).await.unwrap();
    assert!(matches!(outcome, Outcome::TimeLimit), "{outcome:?}");
    assert!(began.elapsed() < Duration::from_secs(30));
    assert_eq!(cause(&host).await, Some(RunCause::Time));

    // Another drive does not start the time again.
    slow.asked.store(false, Ordering::SeqCst);
    let outcome = runtime.drive("chief", &cx).await.unwrap();
    assert!(matches!(outcome, Outcome::TimeLimit), "{outcome:?}");
    assert!(!slow.asked.load(Ordering::SeqCst));

    let quick = agent("chief", &Log::default(), [text("Hello.")]);
    let quick = quick.most_time(Duration::from_secs(20));
    let runtime = host.runtime().agent(entry(quick)).build().unwrap();
    let outcome = runtime.respond("chief", "Hello?", &cx).await.unwrap();
    assert!(matches!(outcome, Outcome::Answered(_)), "{outcome:?}");
}

// A deadline of the context that is earlier than the limit is reported as the deadline.
#[tokio::test]
async fn earlier_deadline_is_reported_as_the_deadline() {
    let host = Host::new();
    let slow = Slow::new(Duration::from_mins(1));
    let chief = Agent::builder("chief", slow).most_time(Duration::from_secs(30));
    let runtime = host.runtime().agent(entry(chief)).build().unwrap();
    let cx = context().deadline(Duration::from_millis(100)).build();
    let outcome = runtime.respond("chief", "Hello.", &cx).await.unwrap();
    assert!(matches!(outcome, Outcome::Deadline), "{outcome:?}");
}

// The time in which the conversation waits for a person does not count.
#[tokio::test]
async fn waiting_for_a_person_does_not_count() {
    let host = Host::new();
    let chief = agent(
        "chief",
        &Log::default(),
        [calls([("sleep", json!({}))]), text("Done.")],
    );
    let chief = chief
        .tools(|_| tool_core::toolset![sleep])
        .most_time(Duration::from_secs(3));
    let runtime = host.runtime().agent(entry(chief)).build().unwrap();
    let cx = context().with(Pause(Duration::from_millis(1))).build();
    let outcome = runtime.respond("chief", "Sleep.", &cx).await.unwrap();
    let Outcome::Waiting(tickets) = outcome else {
        panic!("{outcome:?}");
    };
    tokio::time::sleep(Duration::from_millis(3_500)).await;
    let tools = runtime.all_tools(&cx).unwrap();
    let approvals = host.gate.approvals().unwrap();
    let (acme, token) = (Workspace::new("acme"), &tickets[0].token);
    let answered = approvals.answer(&acme, &tools, token, Reply::Approve, "eve", None);
    answered.await.unwrap();
    let outcome = runtime.drive("chief", &cx).await.unwrap();
    assert!(matches!(outcome, Outcome::Answered(_)), "{outcome:?}");
}

/// Stores a message of the user and a run that began 10 seconds ago, and ended after `ended` seconds or died.
async fn earlier(store: &MemoryStore, ended: Option<u64>) {
    let now = Timestamp::now();
    let began = Timestamp::from_millis(now.as_millis() - 10_000);
    let message = NewMessage {
        thread: main_thread(),
        role: Role::User,
        answers: None,
        follows: None,
        content: r#""Hello.""#.to_owned(),
        at: began,
    };
    store.append(message).await.unwrap();
    let new = NewRun {
        thread: main_thread(),
        principal: None,
        agent: None,
        owner: "dead".to_owned(),
        at: began,
        lease_until: began.plus(Duration::from_millis(200)),
    };
    let RunBegun::Begun(run) = store.begin_run(new).await.unwrap() else {
        panic!("the run did not begin");
    };
    if let Some(seconds) = ended {
        let end = RunEnd {
            cause: RunCause::Waiting,
            at: began.plus(Duration::from_secs(seconds)),
            progress: RunProgress::default(),
        };
        assert!(store.end_run(&run.id, "dead", end).await.unwrap());
    }
}

async fn driven(store: &MemoryStore, limit: u64) -> Outcome {
    let host = Host::with(store.clone());
    let chief = agent("chief", &Log::default(), [text("Hello.")]);
    let chief = chief.most_time(Duration::from_secs(limit));
    let runtime = host.runtime().agent(entry(chief)).build().unwrap();
    runtime.drive("chief", &context().build()).await.unwrap()
}

// The limit also applies on another machine: the times of earlier runs are in the store, and the time until a dead run is taken over counts.
#[tokio::test]
async fn time_of_other_machines_counts() {
    for (ended, limit, is_over) in [
        (None, 9, true),
        (None, 60, false),
        (Some(6), 5, true),
        (Some(6), 8, false),
    ] {
        let store = MemoryStore::default();
        earlier(&store, ended).await;
        let outcome = driven(&store, limit).await;
        let is_right = match outcome {
            Outcome::TimeLimit => is_over,
            Outcome::Answered(_) => !is_over,
            _ => false,
        };
        assert!(is_right, "{ended:?} {limit}: {outcome:?}");
    }
}

// A sub-agent that reaches its limit on time fails, and its parent continues.
#[tokio::test]
async fn time_of_a_sub_agent_ends_its_call() {
    let (host, log) = (Host::new(), Log::default());
    let chief = agent(
        "chief",
        &log,
        [
            calls([("helper", json!({"message": "Go."}))]),
            text("Done."),
        ],
    );
    let helper = Agent::builder("helper", Slow::new(Duration::from_mins(1)));
    let helper = helper.most_time(Duration::from_millis(150));
    let runtime = host
        .runtime()
        .agent(entry(chief).subagent(Subagent::new("helper")))
        .agent(worker(helper))
        .build()
        .unwrap();
    let outcome = runtime.respond("chief", "Go.", &context().build()).await;
    assert!(matches!(outcome, Ok(Outcome::Answered(_))), "{outcome:?}");
    let result = log.all().pop().unwrap().last(Role::Tool);
    assert!(result.contains("limit on time"), "{result}");
}

async fn vault(host: &Host) -> Vault {
    let keys = SealKeys::new("k1", SealKey::new(&[1; 32])).unwrap();
    Vault::open(host.store.clone(), keys).await.unwrap()
}

// A run that was begun keeps its lease while a model writes the description of an immediate sub-agent.
#[tokio::test]
async fn lease_is_renewed_before_the_first_request() {
    let host = Host::new();
    let vault = vault(&host).await;
    let title = NewValue::declared("TITLE", VariableType::Text, SecretString::from("Shop"));
    let scope = VariableScope::thread(&main_thread());
    vault
        .set_variables(&scope, vec![title], "ann")
        .await
        .unwrap();
    let slow = Slow {
        tool: Some("describe_instance"),
        // The lease is 200 ms.
        ..Slow::new(Duration::from_millis(900))
    };
    let tool = Subagent::new("shop")
        .blocking(false)
        .resumable(Resumable::new())
        .immediate(Immediate::per_instance().name_env("TITLE"));
    let chief = Agent::builder("chief", slow.clone()).build().unwrap();
    let shop = thinking("shop", &Log::default(), |_| Ok(text("Open.")));
    let runtime: AgentRuntime = host
        .runtime()
        .vault(&vault)
        .agent(AgentEntry::new(chief).subagent(tool))
        .agent(worker(shop))
        .build()
        .unwrap();
    let cx = context().build();
    let AgentBegun::Run(mut run) = runtime.begin("chief", &cx).await.unwrap() else {
        panic!("the conversation is busy");
    };
    run.say("Hello.").await.unwrap();
    let driven = tokio::spawn(async move { run.drive(&[]).await });
    while !slow.asked.load(Ordering::SeqCst) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    tokio::time::sleep(Duration::from_millis(600)).await;
    let other = runtime.begin("chief", &cx).await.unwrap();
    assert!(matches!(other, AgentBegun::Busy(_)), "{other:?}");
    let outcome = driven.await.unwrap();
    assert!(matches!(outcome, Ok(Outcome::Answered(_))), "{outcome:?}");
    runtime.idle().await;
}
