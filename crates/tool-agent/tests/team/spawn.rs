//! The tool `spawn_task`, which gives a task to a sub-agent.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::{Value, json};
use tool_agent::agent::Agent;
use tool_agent::model::{Script, ScriptedModel};
use tool_agent::team::{SpawnTask, Team};
use tool_core::policy::{Condition, Policy, Rule, SharedPolicy};
use tool_core::prelude::*;
use tool_core::store::{MemoryStore, Role};
use tool_core::turn::{Model, ModelMessage, Outcome, ToolMessage, Turns};
use tool_core::{
    AgentTool, Approvals, CancellationToken, DynamicTool, Enablement, ErrorKind, Gate, Rules,
    Runtime,
};

use crate::support::{
    Seen, add, call, calls, context, fails, follow, only, output, recorded, search, send, team,
    timed, turns,
};

fn spawn() -> ToolCall {
    call(
        "spawn_task",
        &json!({"task": "Add 1 and 2.", "label": null}),
    )
}

fn sum() -> Script {
    calls("add", &json!({"a": 1, "b": 2}))
}

/// Returns a toolset with only `spawn_task`, whose sub-agents have the tools of `parent`.
fn with(model: impl Model + Clone + Sync + 'static, parent: Toolset) -> Toolset {
    let tool = SpawnTask::new(&turns(), model, move |_| parent.clone()).build();
    only(tool.unwrap())
}

fn plain(name: &str) -> DynamicTool {
    let schema = json!({"type": "object", "properties": {}, "additionalProperties": false});
    DynamicTool::new(name, "Does something.", schema, |_: Value, _| async {
        "done"
    })
}

// S1-54, S1-58: a sub-agent has the tools of its parent, except `spawn_task`, harness tools, and tools that start or ask agents
#[tokio::test]
async fn sub_agent_has_the_list_of_its_parent_without_agents_and_harness() {
    let (seen, turns) = (Seen::default(), turns());
    let agents = team(&turns, [("law", timed(0, Script::text("fine")))]);
    let team = Team::builder(agents).build().unwrap();
    let registry = Registry::builder()
        .tool::<add>()
        .tool::<search>()
        .dynamic(plain("read_page").category("web"))
        .dynamic(plain("hidden").category("web"))
        .dynamic(plain("send_message_to_human").category("room").harness())
        .dynamic(team.consult_team().unwrap())
        .dynamic(team.consult_specialist().unwrap())
        .dynamic(team.research_topic("law").unwrap())
        .build()
        .unwrap();
    let rows = ["add", "search", "read_page", "agent:law", "agent:odd"];
    let rows = rows
        .into_iter()
        .fold(Enablement::default(), Enablement::manual);
    let rules = Rules::default()
        .runtime(Runtime::Room)
        .enablement(rows)
        .agent_tool(team.ask("law").unwrap())
        // The host chooses the category of an agent tool.
        .agent_tool(AgentTool::new("odd", plain("ask_odd").category("web")).unwrap());
    let parent = move |cx: &ToolContext| registry.toolset(cx, &rules);
    let model = recorded([Script::text("done")], &seen);
    let tool = SpawnTask::new(&turns, model, parent.clone())
        .build()
        .unwrap();
    let own = only(tool);
    let listed = move |cx: &ToolContext| parent(cx).with_agent_tools(&own);
    let above = Seen::default();
    let asks = json!({"task": "Add.", "label": "sum"});
    let lead = recorded([calls("spawn_task", &asks), Script::text("done")], &above);
    let lead = Agent::builder("lead", lead).tools(listed).build().unwrap();
    let outcome = lead.respond("Go.", &turns, &context().build()).await;
    assert!(matches!(outcome, Ok(Outcome::Answered(_))), "{outcome:?}");
    // The tool needs no enablement row.
    let golden = [
        "add",
        "ask_law",
        "ask_odd",
        "consult_specialist",
        "consult_team",
        "read_page",
        "research_topic",
        "search",
        "send_message_to_human",
        "spawn_task",
    ];
    assert_eq!(above.lock().unwrap()[0].0, golden);
    assert_eq!(seen.lock().unwrap()[0].0, ["add", "read_page", "search"]);
}

// S1-54: the result has the answer and the names of the tools in the order of their first use
#[tokio::test]
async fn result_lists_the_tools_in_the_order_of_first_use() {
    let page = |words: &str| calls("search", &json!({"words": words}));
    let scripts = [
        page("rain"),
        sum(),
        calls("imagined", &json!({})),
        page("snow"),
        Script::text("The sum is 3."),
    ];
    let tools = with(ScriptedModel::new(scripts), toolset![add, search, send]);
    let (progress, result) = follow(
        &tools,
        call(
            "spawn_task",
            &json!({"task": "Add 1 and 2.", "label": "sum"}),
        ),
        &context().build(),
    )
    .await;
    assert_eq!(
        output(&result),
        json!({"success": true, "result": "The sum is 3.", "toolsUsed": ["search", "add"]})
    );
    assert_eq!(progress.len(), 1);
    assert_eq!(progress[0]["label"], "sum");
    assert!(
        progress[0]["conversation"]
            .as_str()
            .unwrap()
            .starts_with("agent:spawn_task:")
    );
}

// S1-54: the sub-agent has an isolated conversation, and has the instructions of the host
#[tokio::test]
async fn sub_agent_has_an_isolated_conversation() {
    let (seen, turns) = (Seen::default(), turns());
    let model = recorded([Script::text("done"), Script::text("never")], &seen);
    let tool = SpawnTask::new(&turns, model, |_| toolset![add]);
    let own = only(tool.instructions("Be brief.").build().unwrap());
    let asks = json!({"task": "Add 1 and 2.", "label": null});
    let lead = ScriptedModel::new([calls("spawn_task", &asks), Script::text("done")]);
    let lead = Agent::builder("lead", lead)
        .tools(move |_| own.clone())
        .build();
    let cx = context().build();
    lead.unwrap()
        .respond("A secret of Ann.", &turns, &cx)
        .await
        .unwrap();
    let messages = seen.lock().unwrap()[0].1.clone();
    let system = (Role::System, r#""Be brief.""#.to_owned());
    let user = (Role::User, r#""Add 1 and 2.""#.to_owned());
    assert_eq!(messages, [system, user]);
    // The thread of the parent contains only its own messages.
    assert_eq!(turns.messages(&cx, None).await.unwrap().len(), 4);
}

// S1-54: a sub-agent has at most 10 steps
#[tokio::test]
async fn sub_agent_has_at_most_ten_steps() {
    let seen = Seen::default();
    let endless = recorded((0..50).map(|_| sum()), &seen);
    // The limit of the loop does not raise the limit of the sub-agent.
    let turns = turns().most_steps(40);
    let tool = SpawnTask::new(&turns, endless, |_| toolset![add]).build();
    let result = only(tool.unwrap()).call(spawn(), &context().build()).await;
    let output = output(&result);
    assert_eq!(output["success"], false);
    assert_eq!(output["toolsUsed"], json!(["add"]));
    assert!(
        output["result"]
            .as_str()
            .unwrap()
            .contains("limit on steps"),
        "{output}"
    );
    assert_eq!(seen.lock().unwrap().len(), 10);
}

// S1-54: an error or a panic of the sub-agent is a result without success, and without details for operators
#[tokio::test]
async fn failed_sub_agent_is_a_result() {
    let panics = Script::with(|_| panic!("host-17 has a bug"));
    let cases = [
        (
            ScriptedModel::new([sum(), fails()]),
            "overloaded",
            json!(["add"]),
        ),
        (
            ScriptedModel::new([panics]),
            "the sub-agent failed",
            json!([]),
        ),
    ];
    for (model, expected, used) in cases {
        let result = with(model, toolset![add])
            .call(spawn(), &context().build())
            .await;
        let output = output(&result);
        assert_eq!(output["success"], false);
        assert_eq!(output["toolsUsed"], used);
        let text = output["result"].as_str().unwrap();
        assert!(
            text.contains(expected) && !text.contains("host-17"),
            "{text}"
        );
    }
}

// S1-54: a sub-agent that waits for an approval fails: the text contains the tool, and the approval is withdrawn
#[tokio::test]
async fn sub_agent_that_waits_for_an_approval_fails() {
    let store = MemoryStore::default();
    let approvals = Approvals::builder(store.clone()).build().unwrap();
    let gate = Gate::builder()
        .approvals(approvals)
        .ledger(store.clone())
        .build();
    let turns = Turns::new(store.clone());
    let parent = toolset![add, send].through(&gate);
    let scripts = [sum(), calls("send", &json!({}))];
    let tool = SpawnTask::new(&turns, ScriptedModel::new(scripts), move |_| parent.clone());
    let tools = only(tool.build().unwrap()).through(&gate);
    let (progress, result) = follow(&tools, spawn(), &context().build()).await;
    let output = output(&result);
    assert_eq!(output["success"], false);
    assert_eq!(output["toolsUsed"], json!(["add"]));
    let text = output["result"].as_str().unwrap();
    assert!(
        text.contains("its call of `send` needs the approval of a person"),
        "{text}"
    );
    let conversation = progress[0]["conversation"].as_str().unwrap();
    let thread = context()
        .conversation(conversation)
        .build()
        .thread()
        .unwrap();
    let waiting = gate.approvals().unwrap().waiting(&thread).await.unwrap();
    assert!(waiting.is_empty(), "{waiting:?}");
}

// S1-54: the policies for the parent apply to the calls of its sub-agents
#[tokio::test]
async fn policies_of_the_parent_apply_to_its_sub_agents() {
    let refused = Rule::deny("no sums of 1")
        .tools(["add"])
        .agents(["lead"])
        .when(Condition::new("/a").equals(1));
    let policy = SharedPolicy::new(Policy::builder().rule(refused).build().unwrap());
    let registry = Registry::builder().tool::<add>().build().unwrap();
    let rules = Rules::default().policy(&policy);
    let last = Script::with(|request| {
        let last = request.messages.last().unwrap();
        let last: ToolMessage = serde_json::from_str(&last.content).unwrap();
        Ok(ModelMessage::text(last.error.unwrap_or(last.text)))
    });
    let model = ScriptedModel::new([sum(), last]);
    let tool = SpawnTask::new(&turns(), model, move |cx| {
        registry
            .toolset(cx, &rules)
            .through(&Gate::builder().build())
    });
    let tools = only(tool.build().unwrap());
    let result = async |agent: &str| {
        let cx = context().agent(agent).build();
        output(&tools.call(spawn(), &cx).await)["result"].clone()
    };
    assert_eq!(result("lead").await, "denied");
    assert_eq!(result("other").await, "3");
}

// S1-58: a sub-agent does not get the tool that started it, even if the host changed its category
#[tokio::test]
async fn sub_agent_cannot_start_sub_agents() {
    let seen = Seen::default();
    let model = recorded([Script::text("done")], &seen);
    let parent = || only(plain("spawn_task").category("web"));
    let tool = SpawnTask::new(&turns(), model, move |_| parent()).build();
    let result = only(tool.unwrap()).call(spawn(), &context().build()).await;
    assert_eq!(output(&result)["success"], true);
    assert!(seen.lock().unwrap()[0].0.is_empty());
}

// S1-54: the cancelled call drops the request of the sub-agent
#[tokio::test(start_paused = true)]
async fn cancelled_call_drops_the_request_of_the_sub_agent() {
    let model = timed(60, Script::text("too late"));
    let dropped = Arc::clone(&model.dropped);
    let tools = with(model, toolset![add]);
    let turn = CancellationToken::new();
    let cx = context().cancellation(turn.clone()).build();
    let stop = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        turn.cancel();
    };
    let (result, ()) = tokio::join!(tools.call(spawn(), &cx), stop);
    assert_eq!(result.error().unwrap().kind(), ErrorKind::Cancelled);
    assert_eq!(dropped.load(Ordering::Relaxed), 1);
}

// S1-54: a call that the policy denies starts no sub-agent
#[tokio::test]
async fn denied_call_starts_no_sub_agent() {
    let model = timed(0, Script::text("done"));
    let asked = Arc::clone(&model.asked);
    let tool = SpawnTask::new(&turns(), model, |_| toolset![add])
        .build()
        .unwrap();
    let registry = Registry::builder().dynamic(tool).build().unwrap();
    let policy = SharedPolicy::default();
    let cx = context().build();
    let tools = registry.toolset(&cx, &Rules::default().policy(&policy));
    let tools = tools.through(&Gate::builder().build());
    let denied = Policy::builder().rule(Rule::deny("none").tools(["spawn_task"]));
    policy.replace(denied.build().unwrap());
    assert!(tools.call(spawn(), &cx).await.is_error());
    assert_eq!(asked.load(Ordering::Relaxed), 0);
}
