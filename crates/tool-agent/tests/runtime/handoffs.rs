//! Handoffs: tools that pass the conversation to another agent.

use serde_json::json;
use tool_agent::runtime::{AgentEntry, AgentRuntime, Handoff};
use tool_core::prelude::*;
use tool_core::store::Role;
use tool_core::turn::{ModelMessage, Outcome};

use crate::support::{Host, Log, agent, calls, context, results, text, thinking};

/// Returns the balance.
#[tool(read_only)]
fn balance() -> i32 {
    42
}

/// Returns the status of an order.
#[tool(read_only)]
fn order() -> &'static str {
    "sent"
}

fn transfer(agents: &[&str]) -> ModelMessage {
    let calls = agents.iter().zip(0..);
    ModelMessage::calls(calls.map(|(agent, at)| {
        ToolCall::new(format!("call_{at}"), format!("transfer_to_{agent}"), "{}")
    }))
}

/// Returns a runtime in which `support` passes the conversation to `billing`.
fn runtime(host: &Host, log: &Log, first: ModelMessage) -> AgentRuntime {
    let support = thinking("support", log, move |request| {
        let is_back = request.last(Role::User) == "Back.";
        Ok(if is_back {
            text("Support again.")
        } else {
            first.clone()
        })
    });
    let support = support.tools(|_| toolset![order]).build().unwrap();
    let billing = thinking("billing", log, |request| {
        Ok(match (request.last(Role::User).as_str(), request.step()) {
            ("Back.", 0) => transfer(&["support"]),
            (_, 1) if request.last(Role::User) != "Back." => calls([("balance", json!({}))]),
            _ => text("You owe 42."),
        })
    });
    let billing = billing
        .tools(|_| toolset![balance])
        .instructions("You are billing.");
    let sales = agent("sales", log, [text("Buy more.")]);
    host.runtime()
        .agent(
            AgentEntry::new(support)
                .handoff(Handoff::to("billing"))
                .handoff(Handoff::to("sales")),
        )
        .agent(AgentEntry::new(billing.build().unwrap()).handoff(Handoff::to("support")))
        .agent(AgentEntry::new(sales.build().unwrap()))
        .build()
        .unwrap()
}

// S4-04: a handoff creates no thread. The other agent continues with its own model, instructions and tools, also in the next turn.
#[tokio::test]
async fn handoff_passes_the_conversation_on() {
    let (host, log) = (Host::new(), Log::default());
    let runtime = runtime(&host, &log, transfer(&["billing"]));
    let cx = context().build();
    let outcome = runtime
        .respond("support", "What do I owe?", &cx)
        .await
        .unwrap();
    assert!(matches!(outcome, Outcome::Answered(text) if text == "You owe 42."));
    assert!(runtime.children(&cx).await.unwrap().is_empty());
    let requests = log.all();
    let agents: Vec<&str> = requests.iter().map(|request| &*request.agent).collect();
    assert_eq!(agents, ["support", "billing", "billing"]);
    assert_eq!(
        requests[0].tools,
        ["order", "transfer_to_billing", "transfer_to_sales"]
    );
    assert_eq!(requests[1].tools, ["balance", "transfer_to_support"]);
    assert_eq!(requests[1].texts(Role::System), ["You are billing."]);
    assert_eq!(
        runtime.active_agent("support", &cx).await.unwrap(),
        "billing"
    );

    // A second concurrent conversation has its own agent.
    let other = context().conversation("other").build();
    assert_eq!(
        runtime.active_agent("support", &other).await.unwrap(),
        "support"
    );

    let outcome = runtime
        .respond("support", "And next month?", &cx)
        .await
        .unwrap();
    assert!(matches!(outcome, Outcome::Answered(_)));
    assert_eq!(log.all()[3].agent, "billing");
    let outcome = runtime.respond("support", "Back.", &cx).await.unwrap();
    assert!(matches!(outcome, Outcome::Answered(text) if text == "Support again."));
    assert_eq!(
        runtime.active_agent("support", &cx).await.unwrap(),
        "support"
    );
}

// The first of several handoffs in a message takes effect, and the others get an error result.
#[tokio::test]
async fn first_handoff_of_a_message_counts() {
    let (host, log) = (Host::new(), Log::default());
    let runtime = runtime(&host, &log, transfer(&["billing", "billing", "sales"]));
    let cx = context().build();
    runtime
        .respond("support", "What do I owe?", &cx)
        .await
        .unwrap();
    let results = results(&host, &cx).await;
    assert!(!results[0].is_error());
    for result in &results[1..3] {
        assert!(result.is_error());
        assert!(
            result.text.starts_with("ignored: another handoff"),
            "{}",
            result.text
        );
    }
    assert_eq!(
        runtime.active_agent("support", &cx).await.unwrap(),
        "billing"
    );
    assert!(log.of("sales").is_empty());
}

// Two agents that pass a conversation to each other are stopped after 5 handoffs, and a message of the user allows 5 more.
#[tokio::test]
async fn handoffs_are_limited_for_each_message_of_the_user() {
    let (host, log) = (Host::new(), Log::default());
    let bounce = |name: &str, other: &str| {
        let other = other.to_owned();
        let bouncing = thinking(name, &log, move |request| {
            let refused = request
                .messages
                .last()
                .unwrap()
                .content
                .contains("answer the user");
            Ok(if refused {
                text("I answer.")
            } else {
                transfer(&[&other])
            })
        });
        AgentEntry::new(bouncing.build().unwrap())
    };
    let runtime = host
        .runtime()
        .agent(bounce("one", "two").handoff(Handoff::to("two")))
        .agent(bounce("two", "one").handoff(Handoff::to("one")))
        .build()
        .unwrap();
    let cx = context().build();
    for round in 1..=3 {
        let outcome = if round < 3 {
            runtime.respond("one", "Hello.", &cx).await.unwrap()
        } else {
            // A different process has stored the message.
            host.turns().say("Hello.", &cx).await.unwrap();
            runtime.drive("one", &cx).await.unwrap()
        };
        assert!(matches!(outcome, Outcome::Answered(text) if text == "I answer."));
        let passed = results(&host, &cx).await;
        let passed = passed.iter().filter(|result| !result.is_error()).count();
        assert_eq!(passed, 5 * round);
    }
}

// The calls after a handoff in one message still run with the tools of the agent that made them, even if the run continues after a crash.
#[tokio::test]
async fn calls_after_a_handoff_belong_to_the_first_agent() {
    let (host, log) = (Host::new(), Log::default());
    let first = calls([("transfer_to_billing", json!({})), ("order", json!({}))]);
    let runtime = runtime(&host, &log, first.clone());
    let cx = context().build();
    // A process stored the message and the first result, and died.
    let turns = host.turns();
    turns.say("What do I owe?", &cx).await.unwrap();
    let message = turns.record(first, &cx).await.unwrap();
    let store = host.store.clone();
    let result = tool_core::turn::ToolMessage {
        id: "call_0".into(),
        name: "transfer_to_billing".into(),
        text: "The agent `billing` continues the conversation.".into(),
        model: None,
        error: None,
        output: None,
        citations: Vec::new(),
    };
    let place = tool_core::store::CallPlace {
        message: message.seq(),
        position: 0,
    };
    let stored = tool_core::store::NewMessage {
        thread: cx.thread().unwrap(),
        role: Role::Tool,
        answers: Some(place),
        follows: None,
        content: serde_json::to_string(&result).unwrap(),
        at: tool_core::store::Timestamp::now(),
    };
    tool_core::store::ThreadStore::append(&store, stored)
        .await
        .unwrap();

    let outcome = runtime.drive("support", &cx).await.unwrap();
    assert!(matches!(outcome, Outcome::Answered(text) if text == "You owe 42."));
    let results = results(&host, &cx).await;
    assert_eq!(
        (results[1].name.as_str(), results[1].text.as_str()),
        ("order", "sent")
    );
    assert!(log.all().iter().all(|request| request.agent == "billing"));
}
