//! The tool `research_topic`, which gives a topic to an agent that does research.

use serde_json::json;
use tool_agent::agent::Agent;
use tool_agent::model::{Script, ScriptedModel};
use tool_agent::team::{LocalTeam, Team};
use tool_core::prelude::*;
use tool_core::turn::Outcome;
use tool_core::{Citation, ErrorKind};

use crate::support::{Seen, call, calls, context, member, only, output, recorded, search, turns};

/// Returns `research_topic` with a researcher that searches the web twice for the same page and once for a different one.
fn research(turns: &tool_core::turn::Turns, seen: &Seen) -> Toolset {
    let words = |words: &str| calls("search", &json!({"words": words}));
    let scripts = [
        words("rain"),
        words("snow"),
        words("rain"),
        Script::text("It rains."),
    ];
    let agent = Agent::builder("web", recorded(scripts, seen)).tools(|_| toolset![search]);
    let agents = LocalTeam::builder(turns).member(member("web"), agent.build().unwrap());
    let team = Team::builder(agents.build().unwrap())
        .caller("lead")
        .build();
    only(team.unwrap().research_topic("web").unwrap())
}

// S2-34: the summary has the citations of the researcher's tools, in the output and in the call
#[tokio::test]
async fn research_returns_a_summary_with_citations() {
    let seen = Seen::default();
    let tools = research(&turns(), &seen);
    for (depth, instruction) in [("quick", "Depth: quick."), ("deep", "Depth: deep.")] {
        let arguments = json!({"topic": "the weather", "depth": depth});
        let result = tools
            .call(call("research_topic", &arguments), &context().build())
            .await;
        let output = output(&result);
        assert_eq!(output["summary"], "It rains.");
        let cited = output["citations"].as_array().unwrap().iter();
        let cited: Vec<_> = cited
            .map(|citation| citation["sourceId"].as_str())
            .collect();
        assert_eq!(cited, [Some("rain"), Some("snow")]);
        assert_eq!(output["citations"][0]["source"], "web");
        let of_call: Vec<_> = result.citations().iter().map(Citation::source_id).collect();
        assert_eq!(of_call, ["rain", "snow"]);
        let (_, messages) = seen.lock().unwrap().last().unwrap().clone();
        assert!(messages[0].1.contains("the weather") && messages[0].1.contains(instruction));
    }
    let wrong = json!({"topic": "the weather", "depth": "slow"});
    let result = tools
        .call(call("research_topic", &wrong), &context().build())
        .await;
    assert!(result.is_error());
}

// S2-34: the agent that asks does not have the tools of the researcher
#[tokio::test]
async fn parent_has_no_tools_of_the_researcher() {
    let (of_parent, of_web, turns) = (Seen::default(), Seen::default(), turns());
    let tools = research(&turns, &of_web);
    let arguments = json!({"topic": "the weather", "depth": "quick"});
    let scripts = [
        calls("research_topic", &arguments),
        Script::text("It rains."),
    ];
    let lead = Agent::builder("lead", recorded(scripts, &of_parent)).tools(move |_| tools.clone());
    let outcome = lead
        .build()
        .unwrap()
        .respond("What is the weather?", &turns, &context().build())
        .await;
    assert!(matches!(outcome, Ok(Outcome::Answered(_))), "{outcome:?}");
    let lists = |seen: &Seen| {
        let seen = seen.lock().unwrap();
        let lists: Vec<_> = seen.iter().map(|(tools, _)| tools.join(" ")).collect();
        lists
    };
    assert_eq!(lists(&of_parent), ["research_topic"; 2]);
    assert_eq!(lists(&of_web), ["search"; 4]);
}

// S2-34: the error of a researcher is the error of the call, without details for operators
#[tokio::test]
async fn error_of_the_researcher_is_an_error_of_the_call() {
    let agents = crate::support::team(
        &turns(),
        [("web", ScriptedModel::new([crate::support::fails()]))],
    );
    let team = Team::builder(agents).build().unwrap();
    let tools = only(team.research_topic("web").unwrap());
    let arguments = json!({"topic": "the weather", "depth": "quick"});
    let result = tools
        .call(call("research_topic", &arguments), &context().build())
        .await;
    assert!(result.model_text().contains("the agent is overloaded"));
    assert!(!result.model_text().contains("host-17"));
}

// S2-34: a researcher cannot give a topic to itself, if the team does not know which agent gets the tool
#[tokio::test]
async fn researcher_does_not_ask_itself() {
    let agents = crate::support::team(&turns(), [("web", ScriptedModel::new([]))]);
    let team = Team::builder(agents).build().unwrap();
    let tools = only(team.research_topic("web").unwrap());
    let arguments = json!({"topic": "the weather", "depth": "quick"});
    let cx = context().agent("web").build();
    let result = tools.call(call("research_topic", &arguments), &cx).await;
    assert_eq!(result.error().unwrap().kind(), ErrorKind::Denied);
    let text = result.model_text();
    assert!(text.contains("the agent `web` cannot ask itself"), "{text}");
}

/// Reads a version of a page.
#[tool(read_only)]
fn read(
    /// The version.
    version: String,
    cx: &ToolContext,
) -> &'static str {
    cx.cite(Citation::new("web", "page").version(version.as_str()));
    "a page"
}

// S2-34: each version of a source is one citation
#[tokio::test]
async fn versions_of_a_source_are_cited_separately() {
    let reads = |version: &str| calls("read", &json!({"version": version}));
    let scripts = [reads("1"), reads("2"), reads("1"), Script::text("Read.")];
    let agent = Agent::builder("web", ScriptedModel::new(scripts)).tools(|_| toolset![read]);
    let agents = LocalTeam::builder(&turns()).member(member("web"), agent.build().unwrap());
    let team = Team::builder(agents.build().unwrap()).build().unwrap();
    let tools = only(team.research_topic("web").unwrap());
    let arguments = json!({"topic": "the page", "depth": "quick"});
    let result = tools
        .call(call("research_topic", &arguments), &context().build())
        .await;
    let versions = result.citations().iter();
    let versions: Vec<_> = versions.map(Citation::version_text).collect();
    assert_eq!(versions, [Some("1"), Some("2")]);
}
