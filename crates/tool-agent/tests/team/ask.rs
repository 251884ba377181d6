//! The tools `ask_<agent>`, which give a prompt to one agent.

use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::json;
use tool_agent::model::Script;
use tool_agent::team::{Team, TeamError};
use tool_core::prelude::*;
use tool_core::{AgentTool, CancellationToken, Enablement, ErrorKind, Rules};

use crate::support::{Timed, call, context, fails, team, timed, turns};

fn configured(model: Timed) -> Team {
    Team::builder(team(&turns(), [("tax-law", model)]))
        .caller("lead")
        .build()
        .unwrap()
}

fn tools(agent: AgentTool) -> Toolset {
    let rules = Rules::default()
        .enablement(Enablement::default().manual("agent:tax-law"))
        .agent_tool(agent);
    Registry::builder()
        .build()
        .unwrap()
        .toolset(&context().build(), &rules)
}

fn prompt() -> ToolCall {
    call("ask_tax_law", &json!({"prompt": "Is it taxed?"}))
}

// S1-59: the answer of the agent is returned as text, and the tool needs the row of the agent
#[tokio::test]
async fn agent_tool_returns_the_answer() {
    let team = configured(timed(0, Script::text("It is taxed.")));
    let tools = tools(team.ask("tax-law").unwrap());
    assert!(tools.names().eq(["ask_tax_law"]));
    assert_eq!(
        tools.get("ask_tax_law").unwrap().description(),
        "Knows everything about tax-law."
    );
    let result = tools.call(prompt(), &context().build()).await;
    assert_eq!(result.model_text(), "It is taxed.");
    // The agent cannot ask itself, and the team has no other agent.
    let result = tools
        .call(prompt(), &context().agent("tax-law").build())
        .await;
    assert_eq!(result.error().unwrap().kind(), ErrorKind::Denied);
    assert!(result.model_text().contains("cannot ask itself"));
    let unknown = team.ask("press").unwrap_err();
    assert_eq!(
        unknown.to_string(),
        "the team has no agent `press`: write one of `tax-law`"
    );
    let no_row = Rules::default()
        .enablement(Enablement::default().manual("agent:other"))
        .agent_tool(team.ask("tax-law").unwrap());
    let registry = Registry::builder().build().unwrap();
    assert!(registry.toolset(&context().build(), &no_row).is_empty());
}

// S1-59: an agent has 60 seconds unless the host sets a different timeout
#[tokio::test(start_paused = true)]
async fn agent_tool_has_a_timeout() {
    let model = timed(600, Script::text("too late"));
    let dropped = model.dropped.clone();
    let team = configured(model);
    let hasty = team
        .ask_tool("tax-law")
        .unwrap()
        .timeout(Duration::from_secs(2));
    let hasty = AgentTool::new("tax-law", hasty).unwrap();
    for (agent, seconds) in [(team.ask("tax-law").unwrap(), 60), (hasty, 2)] {
        let began = tokio::time::Instant::now();
        let result = tools(agent).call(prompt(), &context().build()).await;
        assert_eq!(began.elapsed().as_secs(), seconds);
        assert_eq!(result.error().unwrap().kind(), ErrorKind::TimedOut);
    }
    assert_eq!(dropped.load(Ordering::Relaxed), 2);
}

// S1-59: cancelling the call cancels the agent
#[tokio::test(start_paused = true)]
async fn cancelled_call_drops_the_request_of_the_agent() {
    let model = timed(30, Script::text("too late"));
    let dropped = model.dropped.clone();
    let tools = tools(configured(model).ask("tax-law").unwrap());
    let turn = CancellationToken::new();
    let cx = context().cancellation(turn.clone()).build();
    let stop = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        turn.cancel();
    };
    let (result, ()) = tokio::join!(tools.call(prompt(), &cx), stop);
    assert_eq!(result.error().unwrap().kind(), ErrorKind::Cancelled);
    assert_eq!(dropped.load(Ordering::Relaxed), 1);
}

// S1-59: an error of the agent is returned as text, without details for operators
#[tokio::test]
async fn error_of_an_agent_is_a_text() {
    let tools = tools(configured(timed(0, fails())).ask("tax-law").unwrap());
    let result = tools.call(prompt(), &context().build()).await;
    assert!(result.is_error());
    assert!(result.model_text().contains("the agent is overloaded"));
    assert!(!result.model_text().contains("host-17"));
}

// S1-59: an agent whose id is too long for a tool name is refused
#[test]
fn long_id_is_refused() {
    let id: &'static str = Box::leak("x".repeat(80).into_boxed_str());
    let agents = team(&turns(), [(id, timed(0, Script::text("fine")))]);
    let error = Team::builder(agents).build().unwrap().ask(id).unwrap_err();
    assert!(matches!(error, TeamError::Tool(_)), "{error}");
    assert!(error.to_string().contains("[tool-name]"), "{error}");
}
