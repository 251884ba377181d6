//! Agents that call each other: a guide that starts a researcher in its own thread, and prints all events.
//!
//! Without a key, the models are scripted, and no network is needed. With the variable `ANTHROPIC_API_KEY` or `OPENAI_API_KEY`, the same agents use
//! that provider:
//!
//! ```text
//! cargo run --example agents
//! ANTHROPIC_API_KEY=… cargo run --example agents -- "How deep is the Hardangerfjord?"
//! ```

use std::env;

use futures::StreamExt as _;
use serde_json::json;
use tool_agent::agent::{Agent, AgentBuilder};
use tool_agent::model::{ApiKey, Endpoint, HttpModel, Script, ScriptedModel};
use tool_agent::runtime::{AgentEntry, AgentEventKind, AgentRuntime, Subagent};
use tool_core::Gate;
use tool_core::prelude::*;
use tool_core::store::MemoryStore;
use tool_core::turn::{Outcome, Turns};

/// Returns the maximum depth of a Norwegian fjord in meters.
#[tool(read_only)]
fn fjord_depth(
    /// The name of the fjord.
    name: String,
) -> Result<u32, ToolError> {
    match &*name {
        "Sognefjord" => Ok(1308),
        "Hardangerfjord" => Ok(860),
        _ => Err(ToolError::new(
            "the table has only Sognefjord and Hardangerfjord",
        )),
    }
}

/// The variables with the keys of providers.
const KEYS: [&str; 2] = ["ANTHROPIC_API_KEY", "OPENAI_API_KEY"];

/// Creates an agent with the model of the provider whose key is set, or else with a script.
fn agent(
    name: &str,
    script: impl IntoIterator<Item = Script>,
) -> Result<AgentBuilder, Box<dyn std::error::Error>> {
    let [anthropic, openai] = KEYS;
    let model = if env::var_os(anthropic).is_some() {
        let endpoint = Endpoint::anthropic(ApiKey::from_env(anthropic)?);
        HttpModel::builder(endpoint, "claude-sonnet-4-5")
    } else if env::var_os(openai).is_some() {
        let endpoint = Endpoint::openai(ApiKey::from_env(openai)?);
        HttpModel::builder(endpoint, "gpt-5")
    } else {
        return Ok(Agent::builder(name, ScriptedModel::new(script)));
    };
    Ok(Agent::builder(name, model.build()?))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let question = env::args().nth(1);
    if question.is_some() && KEYS.iter().all(|key| env::var_os(key).is_none()) {
        let keys = KEYS.join(" or ");
        eprintln!(
            "{keys} is not set: a script answers, as if the question were about the Sognefjord"
        );
    }
    let question = question.unwrap_or_else(|| "How deep is the Sognefjord?".to_owned());

    let task = json!({"message": question});
    let guide = agent(
        "guide",
        [
            Script::calls([ToolCall::new("c-1", "researcher", task.to_string())]),
            Script::text("The Sognefjord is 1,308 m deep."),
        ],
    )?;
    let guide = guide.instructions("You guide travellers. Ask the researcher for facts.");
    let depth = ToolCall::new("c-1", "fjord_depth", r#"{"name":"Sognefjord"}"#);
    let researcher = agent(
        "researcher",
        [Script::calls([depth]), Script::text("1,308 m")],
    )?;
    let researcher = researcher
        .instructions("You look facts up with your tools and answer in one line.")
        .tools(|_| toolset![fjord_depth]);

    // With a `SqliteStore` or a `PostgresStore`, the conversations would still be stored after the end of the
    // program.
    let store = MemoryStore::default();
    let gate = Gate::builder().ledger(store.clone()).build();
    let runtime = AgentRuntime::builder(Turns::new(store.clone()), &gate)
        .children(store)
        .agent(AgentEntry::new(guide.build()?).subagent(Subagent::new("researcher")))
        .agent(
            AgentEntry::new(researcher.build()?)
                .autonomous()
                .expose("Looks facts about fjords up."),
        )
        .build()?;

    let cx = ToolContext::builder()
        .workspace("acme")
        .user("ann")
        .conversation("main")
        .build();
    println!("user: {question}");
    let mut events = runtime.stream("guide", question, &cx);
    while let Some(event) = events.next().await {
        let agent = &event.agent;
        match event.kind {
            AgentEventKind::Message { text, calls, .. } => {
                for call in calls {
                    println!("{agent} calls {}({})", call.name, call.arguments);
                }
                if !text.is_empty() {
                    println!("{agent}: {text}");
                }
            }
            AgentEventKind::Result { name, text, .. } => println!("{name} returns {text}"),
            AgentEventKind::ChildStarted { child_agent, .. } => println!("({child_agent} starts)"),
            AgentEventKind::RunEnded {
                error: Some(error), ..
            } => println!("{agent}: {error}"),
            _ => {}
        }
    }
    match events.outcome() {
        Some(Ok(Outcome::Answered(_))) => Ok(()),
        Some(Ok(other)) => Err(format!("the run ended otherwise: {other:?}").into()),
        Some(Err(error)) => Err(error.into()),
        None => Err("the run did not end".into()),
    }
}
