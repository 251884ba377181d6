//! The AI SDK's message stream as a view of the events of a runtime.

use futures::StreamExt as _;
use serde_json::{Value, json};
use tool_agent::runtime::{
    AgentEvent, AgentEventKind, AgentRuntime, EventCursor, Handoff, PromptTool, StoredEvents,
    UiView,
};
use tool_core::prelude::*;
use tool_core::turn::Outcome;
use tool_wire::ui::{Chunk, Writer};

use crate::support::{Host, Log, agent, calls, context, entry, text};

/// Counts to two.
#[tool(read_only)]
async fn count(cx: &ToolContext) -> u32 {
    cx.progress(&1);
    2
}

/// Sends the report.
#[tool(destructive, approval)]
fn send() -> &'static str {
    "sent"
}

fn view() -> UiView {
    UiView::new(Writer::new(&toolset![count, send]), "main")
}

fn json_of(chunks: &[Chunk]) -> Vec<Value> {
    let chunks = chunks.iter();
    chunks
        .map(|chunk| serde_json::to_value(chunk).unwrap())
        .collect()
}

/// Returns the chunks of events, as JSON.
fn chunks(mut view: UiView, events: &[AgentEvent]) -> Vec<Value> {
    let mut all = json_of(&view.start(None));
    for event in events {
        all.extend(json_of(&view.event(event).unwrap()));
    }
    all
}

/// Returns the types of chunks.
fn types(chunks: &[Value]) -> Vec<&str> {
    chunks
        .iter()
        .map(|chunk| chunk["type"].as_str().unwrap())
        .collect()
}

/// Returns the content that an interface shows after the chunks: the texts, and the calls with their inputs
/// and outputs.
fn shown(chunks: &[Value]) -> Vec<Value> {
    let mut parts: Vec<Value> = Vec::new();
    for chunk in chunks {
        match chunk["type"].as_str().unwrap() {
            "start-step" => parts.push(json!("step")),
            "text-start" => parts.push(json!({"text": ""})),
            "text-delta" => {
                let part = parts
                    .iter_mut()
                    .rev()
                    .find(|part| part.get("text").is_some());
                let part = &mut part.unwrap()["text"];
                *part = json!(format!(
                    "{}{}",
                    part.as_str().unwrap(),
                    chunk["delta"].as_str().unwrap()
                ));
            }
            "tool-input-available" => {
                parts.push(json!({"call": chunk["toolCallId"], "input": chunk["input"]}));
            }
            "tool-output-available" if chunk["preliminary"].is_null() => {
                let of = |part: &&mut Value| part["call"] == chunk["toolCallId"];
                parts.iter_mut().find(of).unwrap()["output"] = chunk["output"].clone();
            }
            "finish" => parts.push(json!({"finish": chunk["finishReason"]})),
            _ => {}
        }
    }
    parts
}

fn tree(host: &Host) -> AgentRuntime {
    let log = Log::default();
    let numbered = |id: &str, name: &str, arguments: Value| {
        let call = ToolCall::new(id, name, arguments.to_string());
        tool_core::turn::ModelMessage::calls([call])
    };
    let mut first = numbered("c1", "count", json!({}));
    "I count.".clone_into(&mut first.text);
    let chief = agent(
        "chief",
        &log,
        [
            first,
            numbered("c2", "summary", json!({"message": "Go."})),
            numbered("c3", "transfer_to_clerk", json!({})),
        ],
    );
    host.runtime()
        .events(host.store.clone())
        .agent(
            entry(chief.tools(|_| toolset![count]))
                .prompt(PromptTool::new("summary"))
                .handoff(Handoff::to("clerk")),
        )
        .agent(entry(agent("summary", &log, [text("Hidden.")])).expose("Summarizes."))
        .agent(entry(agent("clerk", &log, [text("Bye.")])))
        .build()
        .unwrap()
}

/// Returns the events of the last run from the store.
async fn stored(host: &Host) -> Vec<AgentEvent> {
    let events = StoredEvents::new(host.store.clone());
    let thread = context().build().thread().unwrap();
    let read = events.read(&thread, EventCursor::START).await.unwrap();
    read.into_iter().map(|followed| followed.event).collect()
}

async fn live(runtime: &AgentRuntime) -> Vec<AgentEvent> {
    let events = runtime.stream("chief", "Go.", &context().build());
    events.collect().await
}

// A run with calls, a prompt and a handoff is one message. Live and stored events produce the same message, and threads below are not shown.
#[tokio::test]
async fn live_and_stored_events_show_the_same_message() {
    let host = Host::new();
    let events = live(&tree(&host)).await;
    let streamed = chunks(view(), &events);
    let expected = [
        json!("step"),
        json!({"text": "I count."}),
        json!({"call": "c1", "input": {}, "output": 2}),
        json!("step"),
        json!({"call": "c2", "input": {"message": "Go."}}),
        json!("step"),
        json!({"call": "c3", "input": {}, "output": "The agent `clerk` continues the conversation."}),
        json!("step"),
        json!({"text": "Bye."}),
        json!({"finish": "stop"}),
    ];
    let parts = |chunks: &[Value]| {
        let mut parts = shown(chunks);
        // Another test checks the result of the prompt.
        let output = parts[4].as_object_mut().unwrap().remove("output").unwrap();
        assert_eq!(output, json!({"result": "Hidden.", "status": "success"}));
        parts
    };
    assert_eq!(parts(&streamed), expected);
    assert!(types(&streamed).contains(&"tool-output-available"));
    assert_eq!(parts(&chunks(view(), &stored(&host).await)), expected);
    assert_eq!(parts(&chunks(view().holding(), &events)), expected);
}

fn event(conversation: &str, kind: &Value) -> AgentEvent {
    let mut event = json!({"version": 1, "conversation": conversation, "agent": "chief", "at": 1});
    event
        .as_object_mut()
        .unwrap()
        .extend(kind.as_object().unwrap().clone());
    serde_json::from_value(event).unwrap()
}

fn events(kinds: &[Value]) -> Vec<AgentEvent> {
    kinds.iter().map(|kind| event("main", kind)).collect()
}

fn step(step: u32) -> Value {
    json!({"type": "step_started", "step": step})
}

fn piece(delta: &str) -> Value {
    json!({"type": "text", "delta": delta})
}

fn message(text: &str) -> Value {
    json!({"type": "message", "text": text, "calls": []})
}

fn ended(cause: &str) -> Value {
    json!({"type": "run_ended", "cause": cause})
}

// A reader that missed the last pieces of a step gets the rest of the text with its message.
#[test]
fn missing_pieces_are_shown_with_the_message() {
    let seen = [step(1), piece("Hel"), message("Hello."), ended("replied")];
    let chunks = chunks(view(), &events(&seen));
    assert_eq!(
        shown(&chunks),
        [
            json!("step"),
            json!({"text": "Hello."}),
            json!({"finish": "stop"})
        ]
    );
    assert_eq!(
        types(&chunks)
            .iter()
            .filter(|kind| **kind == "text-start")
            .count(),
        1
    );
}

// In some versions of the AI SDK, shown pieces cannot be withdrawn, so the message ends with an error. A view that holds the pieces shows only the complete
// message.
#[test]
fn withdrawn_pieces_end_the_message_unless_they_are_held() {
    let restarted = |withdrawal: Value| {
        events(&[
            step(1),
            piece("Hel"),
            withdrawal,
            piece("Good"),
            message("Good."),
            ended("replied"),
        ])
    };
    for withdrawal in [json!({"type": "step_restarted"}), step(1)] {
        let restarted = restarted(withdrawal);
        let failed = chunks(view(), &restarted);
        assert_eq!(
            types(&failed),
            [
                "start",
                "start-step",
                "text-start",
                "text-delta",
                "error",
                "text-end",
                "finish-step",
                "finish"
            ]
        );
        assert!(!failed.iter().any(|chunk| chunk["delta"] == "Good"));
        let held = shown(&chunks(view().holding(), &restarted));
        assert!(
            held.ends_with(&[json!({"text": "Good."}), json!({"finish": "stop"})]),
            "{held:?}"
        );
        assert!(!held.contains(&json!({"text": "Hel"})));
        // Version 7 of the AI SDK removes the parts of the step.
        let reset = chunks(view().resetting(), &restarted);
        assert_eq!(
            types(&reset)[3..],
            [
                "text-delta",
                "reset-step",
                "text-start",
                "text-delta",
                "text-delta",
                "text-end",
                "finish-step",
                "finish"
            ]
        );
    }
    // No piece was shown, so no piece is withdrawn.
    let unseen = events(&[
        step(1),
        json!({"type": "step_restarted"}),
        piece("Good."),
        message("Good."),
        ended("replied"),
    ]);
    assert_eq!(shown(&chunks(view(), &unseen))[1], json!({"text": "Good."}));
}

// The cause of the end of a run becomes the finish reason of the message. The text of a guardrail is separate from the text of the model.
#[test]
fn ends_of_runs_are_shown() {
    let of = |cause: &str| {
        let chunks = chunks(
            view(),
            &events(&[step(1), message("A"), ended(cause), piece("late")]),
        );
        let last = chunks.last().unwrap().clone();
        (
            types(&chunks).contains(&"error"),
            last["type"].clone(),
            last["finishReason"].clone(),
        )
    };
    for (cause, error, kind, reason) in [
        ("replied", false, "finish", json!("stop")),
        ("length", false, "finish", json!("length")),
        ("filtered", false, "finish", json!("content-filter")),
        ("guardrail", false, "finish", json!("content-filter")),
        ("steps", false, "finish", json!("other")),
        ("cancelled", false, "abort", Value::Null),
        ("interrupted", false, "abort", Value::Null),
        ("failed", true, "finish", json!("error")),
        ("error", true, "finish", json!("error")),
        ("a later cause", true, "finish", json!("error")),
    ] {
        assert_eq!(of(cause), (error, json!(kind), reason), "{cause}");
    }
    let replaced = [
        step(1),
        piece("Secret"),
        message("Withheld."),
        ended("guardrail"),
    ];
    let shown = shown(&chunks(view(), &events(&replaced)));
    assert_eq!(
        shown[1..3],
        [json!({"text": "Secret"}), json!({"text": "Withheld."})]
    );
}

// Events contain no tokens. The host passes the tickets of a waiting run, and the interface sends their tokens back.
#[tokio::test]
async fn approvals_are_asked_with_the_tickets_of_the_host() {
    let (host, log) = (Host::new(), Log::default());
    let chief = agent("chief", &log, [calls([("send", json!({}))])]);
    let runtime = host.runtime().agent(entry(chief.tools(|_| toolset![send])));
    let runtime = runtime.build().unwrap();
    let cx = context().build();
    let (mut view, mut all) = (view(), Vec::new());
    let mut events = runtime.stream("chief", "Go.", &cx);
    while let Some(event) = events.next().await {
        all.extend(json_of(&view.event(&event).unwrap()));
        if let AgentEventKind::Waiting { .. } = event.kind {
            let tickets = runtime.waiting(&cx).await.unwrap();
            all.extend(json_of(&view.ask(tickets).unwrap()));
        }
    }
    let Some(Ok(Outcome::Waiting(tickets))) = events.outcome() else {
        panic!("the run does not wait");
    };
    let asked = all
        .iter()
        .find(|chunk| chunk["type"] == "tool-approval-request");
    assert_eq!(asked.unwrap()["approvalId"], json!(tickets[0].token));
    assert_eq!(all.last().unwrap()["finishReason"], "tool-calls");
    assert!(view.is_over());
}
