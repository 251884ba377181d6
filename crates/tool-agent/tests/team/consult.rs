//! The tool `consult_team`, which gives one task to all agents of a team.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures::future::{BoxFuture, FutureExt as _};
use serde_json::{Value, json};
use tool_agent::model::Script;
use tool_agent::team::{AgentAnswer, AgentRunner, AgentTask, LocalTeam, Team, TeamMember};
use tool_core::policy::{Policy, Rule, SharedPolicy};
use tool_core::prelude::*;
use tool_core::store::{AuditFilter, AuditSink, MemoryStore, Scope};
use tool_core::{
    Audit, CancellationToken, Citation, Dialect, ErrorKind, Gate, Rules, Runtime, ToolDef,
};

use crate::support::{call, context, fails, follow, member, only, output, team, timed, turns};

fn tools(agents: impl AgentRunner) -> Toolset {
    let team = Team::builder(agents).build().unwrap();
    only(team.consult_team().unwrap())
}

fn task() -> ToolCall {
    call("consult_team", &json!({"task": "May we sell it?"}))
}

/// Returns the statuses of a report, in the order of the agents.
fn statuses(report: &Value) -> Vec<&str> {
    let responses = report["responses"].as_array().unwrap().iter();
    responses
        .map(|response| response["status"].as_str().unwrap())
        .collect()
}

// S2-23: a snapshot of all agents is sent for each answer, in the order of completion
#[tokio::test(start_paused = true)]
async fn each_answer_is_reported_in_the_order_of_completion() {
    let agents = [
        ("law", timed(3, Script::text("It is legal."))),
        ("tax", timed(1, Script::text("It is not taxed."))),
        ("press", timed(2, Script::text("Nobody minds."))),
    ];
    let tools = tools(team(&turns(), agents));
    let (progress, result) = follow(&tools, task(), &context().build()).await;
    let seen: Vec<_> = progress.iter().map(statuses).collect();
    assert_eq!(
        seen,
        [
            ["pending", "pending", "pending"],
            ["pending", "complete", "pending"],
            ["pending", "complete", "complete"],
            ["complete", "complete", "complete"],
        ]
    );
    assert_eq!(progress[1]["responses"][1]["text"], "It is not taxed.");
    assert_eq!(progress[1]["responses"][0]["text"], "");
    let last = json!({"responses": [
        {"agentId": "law", "name": "The law agent", "status": "complete", "text": "It is legal."},
        {"agentId": "tax", "name": "The tax agent", "status": "complete", "text": "It is not taxed."},
        {"agentId": "press", "name": "The press agent", "status": "complete", "text": "Nobody minds."},
    ]});
    assert_eq!(progress[3], last);
    assert_eq!(output(&result), last);
}

// S2-23: agents that complete at the same time are reported one by one
#[tokio::test(start_paused = true)]
async fn answers_at_the_same_time_are_reported_one_by_one() {
    let agents = ["law", "tax", "press"].map(|id| (id, timed(0, Script::text(id))));
    let tools = tools(team(&turns(), agents));
    let (progress, _) = follow(&tools, task(), &context().build()).await;
    let complete = |report: &Value| {
        let all = statuses(report);
        all.iter().filter(|status| **status == "complete").count()
    };
    let seen: Vec<_> = progress.iter().map(complete).collect();
    assert_eq!(seen, [0, 1, 2, 3]);
}

// S2-33: all agents are asked at once
#[tokio::test(start_paused = true)]
async fn agents_are_asked_in_parallel() {
    let agents = ["law", "tax", "press"].map(|id| (id, timed(1, Script::text(id))));
    let tools = tools(team(&turns(), agents));
    let began = tokio::time::Instant::now();
    let result = tools.call(task(), &context().build()).await;
    assert_eq!(began.elapsed(), Duration::from_secs(1));
    assert_eq!(statuses(&output(&result)), ["complete"; 3]);
}

/// A runner whose agents answer, fail, panic or take too long.
struct Mixed;

impl AgentRunner for Mixed {
    fn agents(&self) -> Vec<TeamMember> {
        ["late", "good", "bad", "faulty"].map(member).into()
    }

    fn ask<'a>(
        &'a self,
        task: AgentTask,
        _: &'a ToolContext,
    ) -> BoxFuture<'a, Result<AgentAnswer, ToolError>> {
        match &*task.agent {
            "late" => std::future::pending().boxed(),
            "good" => std::future::ready(Ok(AgentAnswer::new("fine"))).boxed(),
            "bad" => {
                let error = ToolError::new("the agent is overloaded")
                    .operator("the quota of host-17 is used up");
                std::future::ready(Err(error)).boxed()
            }
            _ => panic!("host-18 has a bug"),
        }
    }
}

// S2-33: an agent that takes too long, an error and a panic do not fail the other agents
#[tokio::test(start_paused = true)]
async fn failed_agents_do_not_fail_the_others() {
    let store = MemoryStore::default();
    let gate = Gate::builder()
        .audit(Audit::required(store.clone()))
        .build();
    let tools = tools(Mixed).through(&gate);
    let began = tokio::time::Instant::now();
    let (progress, result) = follow(&tools, task(), &context().build()).await;
    assert_eq!(began.elapsed(), Duration::from_secs(90));
    let report = output(&result);
    assert_eq!(
        statuses(&report),
        ["timeout", "complete", "error", "error"],
        "{report}"
    );
    let texts = report["responses"].as_array().unwrap().iter();
    let texts: Vec<_> = texts.map(|response| &response["text"]).collect();
    assert_eq!(
        texts,
        [
            "the agent did not answer within 90s",
            "fine",
            "the agent is overloaded",
            "the agent failed",
        ]
    );
    // The details for operators are in the audit row only.
    let mut shown: Vec<_> = progress.iter().map(Value::to_string).collect();
    shown.extend([report.to_string(), result.model_text()]);
    assert!(!shown.iter().any(|text| text.contains("host-1")));
    let rows = store.export(Scope::All, &AuditFilter::default()).await;
    let notes = &rows.unwrap()[0].notes;
    let failed = notes.iter().filter(|note| note.action == "agent.failed");
    let failed: Vec<_> = failed.map(|note| note.details.as_str()).collect();
    assert_eq!(failed.len(), 2);
    assert!(failed[0].contains("the quota of host-17 is used up"));
    assert!(failed[1].contains("host-18 has a bug"));
}

// S2-33: the timeout of an agent is a setting, and a call with less time left returns the answers that have
// arrived
#[tokio::test(start_paused = true)]
async fn timeout_of_an_agent_is_a_setting() {
    let team = Team::builder(Mixed).timeout(Duration::from_secs(7)).build();
    let tools = only(team.unwrap().consult_team().unwrap());
    let began = tokio::time::Instant::now();
    let result = tools.call(task(), &context().build()).await;
    assert_eq!(began.elapsed(), Duration::from_secs(7));
    assert_eq!(statuses(&output(&result))[..2], ["timeout", "complete"]);
    let began = tokio::time::Instant::now();
    let cx = context().deadline(Duration::from_secs(3)).build();
    let result = tools.call(task(), &cx).await;
    assert!(began.elapsed() < Duration::from_secs(3));
    assert_eq!(statuses(&output(&result))[..2], ["timeout", "complete"]);
}

// S2-23: the model reads the names and the texts, without the JSON of the output
#[tokio::test(start_paused = true)]
async fn model_reads_only_the_texts() {
    let agents = [
        ("law", timed(1, Script::text("It is legal."))),
        ("tax", timed(1, fails())),
    ];
    let tools = tools(team(&turns(), agents));
    let result = tools.call(task(), &context().build()).await;
    assert_eq!(
        result.model_text(),
        "The law agent:\nIt is legal.\n\nThe tax agent (no answer):\nthe agent is overloaded"
    );
    let tool = tools.get("consult_team").unwrap();
    assert!(!tool.only_calls() && !tool.hints().read_only && !tool.hints().idempotent);
    for dialect in Dialect::ALL {
        assert!(
            tool.definition(dialect)
                .contains("- `tax` (The tax agent): Knows everything about tax.")
        );
    }
}

// S2-33: the agent that asks is not asked, whether its id is configured or is the agent of the context
#[tokio::test(start_paused = true)]
async fn agent_that_asks_is_not_asked() {
    let turns = turns();
    let agents = ["lead", "law"].map(|id| (id, timed(1, Script::text(id))));
    let asked: Vec<_> = agents
        .iter()
        .map(|(_, model)| Arc::clone(&model.asked))
        .collect();
    let local = team(&turns, agents);
    let configured = Team::builder(local.clone()).caller("lead").build().unwrap();
    let configured = only(configured.consult_team().unwrap());
    let description = configured
        .get("consult_team")
        .unwrap()
        .description()
        .to_owned();
    assert!(!description.contains("`lead`"), "{description}");
    for tools in [configured, tools(local.clone())] {
        let report = output(&tools.call(task(), &context().build()).await);
        assert_eq!(report["responses"].as_array().unwrap().len(), 1);
        assert_eq!(report["responses"][0]["agentId"], "law");
    }
    assert_eq!(asked[0].load(Ordering::Relaxed), 0);
    assert_eq!(asked[1].load(Ordering::Relaxed), 2);
    let alone = Team::builder(local).participants(["lead"]).build().unwrap();
    let alone = only(alone.consult_team().unwrap());
    let result = alone.call(task(), &context().build()).await;
    assert_eq!(result.error().unwrap().kind(), ErrorKind::Denied);
}

// S2-33: the cancelled call drops the requests of all agents
#[tokio::test(start_paused = true)]
async fn cancelled_call_drops_the_requests() {
    let agents = ["law", "tax"].map(|id| (id, timed(60, Script::text(id))));
    let dropped: Vec<_> = agents
        .iter()
        .map(|(_, model)| Arc::clone(&model.dropped))
        .collect();
    let tools = tools(team(&turns(), agents));
    let turn = CancellationToken::new();
    let cx = context().cancellation(turn.clone()).build();
    let stop = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        turn.cancel();
    };
    let (result, ()) = tokio::join!(tools.call(task(), &cx), stop);
    assert_eq!(result.error().unwrap().kind(), ErrorKind::Cancelled);
    assert!(
        dropped
            .iter()
            .all(|dropped| dropped.load(Ordering::Relaxed) == 1)
    );
}

/// A runner whose agents answer with their own citation.
struct Citing;

impl AgentRunner for Citing {
    fn agents(&self) -> Vec<TeamMember> {
        ["law", "tax"].map(member).into()
    }

    fn ask<'a>(
        &'a self,
        task: AgentTask,
        _: &'a ToolContext,
    ) -> BoxFuture<'a, Result<AgentAnswer, ToolError>> {
        let citation = Citation::new("library", task.agent);
        std::future::ready(Ok(AgentAnswer::new("fine").citations([citation]))).boxed()
    }
}

// S2-33: the citations of all answers are added to the call
#[tokio::test]
async fn citations_of_the_agents_are_citations_of_the_call() {
    let result = tools(Citing).call(task(), &context().build()).await;
    let cited: Vec<_> = result.citations().iter().map(Citation::source_id).collect();
    assert_eq!(cited, ["law", "tax"]);
}

// S2-33: a call that the policy or the gate denies asks no agent
#[tokio::test]
async fn denied_call_asks_no_agent() {
    let model = timed(0, Script::text("fine"));
    let asked = Arc::clone(&model.asked);
    let turns = turns();
    let agents: LocalTeam = team(&turns, [("law", model)]);
    let team = Team::builder(agents).build().unwrap();
    let registry = || {
        let registry = Registry::builder()
            .dynamic(team.consult_team().unwrap())
            .dynamic(team.consult_specialist().unwrap())
            .dynamic(team.research_topic("law").unwrap());
        registry.build().unwrap()
    };
    let cx = context().build();
    let requests = [
        task(),
        call(
            "consult_specialist",
            &json!({"agentId": "law", "task": "May we?"}),
        ),
        call(
            "research_topic",
            &json!({"topic": "the law", "depth": "quick"}),
        ),
        call("ask_law", &json!({"prompt": "May we?"})),
    ];
    let policy = SharedPolicy::default();
    let rules = Rules::default()
        .agent_tool(team.ask("law").unwrap())
        .policy(&policy);
    let tools = registry()
        .toolset(&cx, &rules)
        .through(&Gate::builder().build());
    // The deny rules are added after the turn began, so that the gate denies the call and not the list of
    // tools.
    let names = [
        "consult_team",
        "consult_specialist",
        "research_topic",
        "ask_law",
    ];
    let denied = names.into_iter().fold(Policy::builder(), |policy, name| {
        policy.rule(Rule::deny(name).tools([name]))
    });
    policy.replace(denied.build().unwrap());
    for request in &requests {
        let result = tools.call(request.clone(), &cx).await;
        assert!(result.is_error(), "{}", request.name);
    }
    assert_eq!(asked.load(Ordering::Relaxed), 0);
    // Control test: without these rules, the same calls ask the agent.
    let rules = Rules::default().agent_tool(team.ask("law").unwrap());
    let tools = registry()
        .toolset(&cx, &rules)
        .through(&Gate::builder().build());
    for request in requests {
        assert!(!tools.call(request, &cx).await.is_error());
    }
    assert_eq!(asked.load(Ordering::Relaxed), 4);
    // A turn that another agent started has no tool of the team.
    let below = registry().toolset(&cx, &rules.runtime(Runtime::SubAgent));
    assert!(below.is_empty(), "{:?}", below.names().collect::<Vec<_>>());
    assert!(tools.tools().all(|tool: &ToolDef| !tool.only_calls()));
}
