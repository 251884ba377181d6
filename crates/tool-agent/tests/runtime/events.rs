//! The events of a runtime.

use std::sync::{Arc, Mutex};

use futures::StreamExt as _;
use serde_json::{Value, json};
use tool_agent::agent::Agent;
use tool_agent::model::{Script, ScriptedModel};
use tool_agent::runtime::{
    AgentEntry, AgentEvent, AgentEventKind, AgentEvents, AgentRuntime, Handoff, PromptTool,
    Subagent,
};
use tool_core::prelude::*;
use tool_core::turn::Outcome;

use crate::support::{Host, Log, agent, calls, context, entry, text, thinking, worker};

/// Counts to two.
#[tool(read_only)]
async fn count(cx: &ToolContext) -> u32 {
    cx.progress(&1);
    cx.progress(&2);
    2
}

/// Sends the report.
#[tool(destructive, approval)]
fn send() -> &'static str {
    "sent"
}

async fn collect(events: &mut AgentEvents) -> Vec<AgentEvent> {
    let mut all = Vec::new();
    while let Some(event) = events.next().await {
        all.push(event);
    }
    all
}

/// Returns the events as lines: the agent, the kind of the event, and its main value.
fn lines(events: &[AgentEvent]) -> Vec<String> {
    let line = |event: &AgentEvent| {
        let value = match &event.kind {
            AgentEventKind::StepStarted { step } => step.to_string(),
            AgentEventKind::CallStarted { name, .. } => name.clone(),
            AgentEventKind::Text { delta } | AgentEventKind::CallArguments { delta, .. } => {
                delta.clone()
            }
            AgentEventKind::Message { text, calls, .. } => format!("{text}/{}", calls.len()),
            AgentEventKind::Progress { name, step, .. } => format!("{name} {step}"),
            AgentEventKind::Result { name, text, .. } => format!("{name} {text}"),
            AgentEventKind::Handoff { to } => to.clone(),
            AgentEventKind::ChildStarted { child_agent, .. } => child_agent.clone(),
            AgentEventKind::ChildEnded { failed, .. } => failed.to_string(),
            AgentEventKind::Waiting { approvals } => approvals[0].tool.clone(),
            AgentEventKind::RunEnded { cause, .. } => cause.clone(),
            _ => String::new(),
        };
        let line = format!("{} {} {value}", event.agent, event.kind.name());
        line.trim_end().to_owned()
    };
    events.iter().map(line).collect()
}

fn scripted(name: &str, scripts: impl IntoIterator<Item = Script>) -> AgentEntry {
    let model = ScriptedModel::new(scripts);
    AgentEntry::new(
        Agent::builder(name, model)
            .tools(|_| toolset![count])
            .build()
            .unwrap(),
    )
}

fn script(name: &str, arguments: &str) -> Script {
    Script::calls([ToolCall::new("c-1", name, arguments)])
}

fn tree(host: &Host) -> AgentRuntime {
    let message = r#"{"message":"Go."}"#;
    host.runtime()
        .agent(
            scripted(
                "chief",
                [
                    script("count", "{}"),
                    script("summary", message),
                    script("worker", message),
                    script("transfer_to_clerk", "{}"),
                ],
            )
            .prompt(PromptTool::new("summary"))
            .subagent(Subagent::new("worker"))
            .handoff(Handoff::to("clerk")),
        )
        .agent(scripted("summary", [Script::text("Short.")]).expose("Summarizes."))
        .agent(
            scripted("worker", [Script::text("Made it.")])
                .autonomous()
                .expose("Works."),
        )
        .agent(scripted("clerk", [Script::text("I go on.")]))
        .build()
        .unwrap()
}

// The stream has every event of a run and of the threads below it, in order, and each event round-trips through JSON.
#[tokio::test]
async fn events_of_a_tree_are_streamed_in_order() {
    let host = Host::new();
    let mut events = tree(&host).stream("chief", "Go.", &context().build());
    let all = collect(&mut events).await;
    let outcome = events.outcome();
    assert!(matches!(outcome, Some(Ok(Outcome::Answered(text))) if text == "I go on."));
    assert_eq!(
        lines(&all),
        [
            "chief run_started",
            "chief step_started 1",
            "chief call_started count",
            "chief call_arguments {}",
            "chief message /1",
            "chief progress count 1",
            "chief progress count 2",
            "chief result count 2",
            "chief step_started 2",
            "chief call_started summary",
            r#"chief call_arguments {"message":"Go."}"#,
            "chief message /1",
            "chief child_started summary",
            "summary run_started",
            "summary step_started 1",
            "summary text Short.",
            "summary message Short./0",
            "summary run_ended replied",
            "chief child_ended false",
            "chief result summary Short.",
            "chief step_started 3",
            "chief call_started worker",
            r#"chief call_arguments {"message":"Go."}"#,
            "chief message /1",
            "chief child_started worker",
            "worker run_started",
            "worker step_started 1",
            "worker text Made",
            "worker text it.",
            "worker message Made it./0",
            "worker run_ended replied",
            "chief child_ended false",
            "chief result worker Made it.",
            "chief step_started 4",
            "chief call_started transfer_to_clerk",
            "chief call_arguments {}",
            "chief message /1",
            "chief handoff clerk",
            "chief result transfer_to_clerk The agent `clerk` continues the conversation.",
            "clerk step_started 5",
            "clerk text I",
            "clerk text go",
            "clerk text on.",
            "clerk message I go on./0",
            "clerk run_ended replied",
        ]
    );
    for event in &all {
        assert_eq!(event.version, 1);
        let json = serde_json::to_value(event).unwrap();
        assert_eq!(json["type"], event.kind.name());
        let read: AgentEvent = serde_json::from_value(json.clone()).unwrap();
        assert_eq!(serde_json::to_value(&read).unwrap(), json);
        let is_child = matches!(event.agent.as_str(), "summary" | "worker");
        assert_eq!(event.parent.as_deref(), is_child.then_some("main"));
        assert_eq!(event.conversation == "main", !is_child);
    }
}

// Two concurrent conversations have separate streams, and an observer of the runtime receives the events of both.
#[tokio::test]
async fn streams_of_two_conversations_do_not_mix() {
    let (host, all) = (Host::new(), Arc::new(Mutex::new(Vec::new())));
    let log = Log::default();
    let chief = thinking("chief", &log, |request| {
        Ok(text(&format!(
            "heard {}",
            request.last(tool_core::store::Role::User)
        )))
    });
    let observed = Arc::clone(&all);
    let runtime = host
        .runtime()
        .observe(move |event| observed.lock().unwrap().push(event.conversation.clone()))
        .agent(entry(chief))
        .build()
        .unwrap();
    let stream = |conversation: &str| {
        let cx = context().conversation(conversation).build();
        let mut events = runtime.stream("chief", conversation, &cx);
        async move { collect(&mut events).await }
    };
    let (one, two) = futures::future::join(stream("one"), stream("two")).await;
    for (name, events) in [("one", &one), ("two", &two)] {
        assert!(events.iter().all(|event| event.conversation == name));
        assert!(lines(events).contains(&format!("chief message heard {name}/0")));
    }
    let mut counts = [0, 0];
    for conversation in all.lock().unwrap().iter() {
        counts[usize::from(conversation == "two")] += 1;
    }
    assert_eq!(counts, [one.len(), two.len()]);
}

// An open approval is an event without the token and the arguments, and the end of the run contains the
// cause.
#[tokio::test]
async fn open_approvals_are_events_without_credentials() {
    let (host, log) = (Host::new(), Log::default());
    let chief = agent("chief", &log, [calls([("send", json!({}))])]);
    let chief = entry(chief.tools(|_| toolset![send]));
    let runtime = host.runtime().agent(chief).build().unwrap();
    let mut events = runtime.stream("chief", "Go.", &context().build());
    let all = collect(&mut events).await;
    let Some(Ok(Outcome::Waiting(tickets))) = events.outcome() else {
        panic!("the run does not wait");
    };
    let last: Vec<Value> = all
        .iter()
        .rev()
        .take(2)
        .map(|event| serde_json::to_value(event).unwrap())
        .collect();
    assert_eq!(last[0]["cause"], "waiting");
    let approval = json!({"id": tickets[0].id, "tool": "send", "conversation": "main"});
    assert_eq!(last[1]["approvals"], json!([approval]));
    let text = serde_json::to_string(&all).unwrap();
    assert!(!text.contains(&tickets[0].token));
}

// A stream that is dropped cancels its run, and a stream that has ended keeps no events of sub-agents in the background.
#[tokio::test]
async fn dropped_stream_cancels_the_run() {
    let (host, log) = (Host::new(), Log::default());
    let chief = thinking("chief", &log, |request| {
        let first = request.texts(tool_core::store::Role::User).len() == 1 && request.step() == 0;
        Ok(if first {
            calls([("worker", json!({"message": "Go."}))])
        } else {
            text("Done.")
        })
    });
    let seen = Arc::new(Mutex::new(0));
    let counted = Arc::clone(&seen);
    let runtime = host
        .runtime()
        .observe(move |event| {
            if event.agent == "worker" {
                *counted.lock().unwrap() += 1;
            }
        })
        .agent(entry(chief).subagent(Subagent::new("worker").blocking(false)))
        .agent(worker(agent("worker", &log, [text("Made it.")])))
        .build()
        .unwrap();
    let mut events = runtime.stream("chief", "Go.", &context().build());
    let all = collect(&mut events).await;
    assert!(lines(&all).contains(&"chief run_ended replied".to_owned()));
    runtime.idle().await;
    // The observer of the runtime receives the events of the sub-agent, and the ended stream stays empty.
    assert!(*seen.lock().unwrap() > 0);
    assert!(events.next().await.is_none());

    let other = context().conversation("other").build();
    let mut dropped = runtime.stream("chief", "Go.", &other);
    assert!(dropped.next().await.is_some());
    drop(dropped);
    tokio::task::yield_now().await;
    let runs = host.turns();
    let acme = tool_core::store::Workspace::new("acme");
    let filter = tool_core::store::RunFilter {
        conversation: Some("other".to_owned()),
        ..Default::default()
    };
    for run in runs.runs(&acme, &filter).await.unwrap() {
        assert!(run.cause.is_some(), "{run:?}");
    }
}
