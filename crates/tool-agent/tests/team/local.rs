//! Teams of agents that run in this process: their conversations, contexts and limits.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use tool_agent::agent::Agent;
use tool_agent::model::{Script, ScriptedModel};
use tool_agent::team::{AgentRunner as _, AgentTask, LocalTeam, SpawnTask, Team};
use tool_core::prelude::*;
use tool_core::store::{
    AuditFilter, AuditSink as _, BudgetId, BudgetStore as _, MemoryStore, Scope, Usage, Workspace,
};
use tool_core::turn::{Budget, ModelMessage, ModelRequest, StopReason, Turns};
use tool_core::{Approvals, Audit, DynamicTool, ErrorKind, Gate};

use crate::support::{
    add, agent, call, calls, context, fails, member, only, output, send, team, timed, turns,
};

/// The conversation, workspace, user, session and agent of each request.
type Places = Arc<Mutex<Vec<[String; 5]>>>;

/// Returns a script that answers with the workspace and the last message, and records its context.
fn places(seen: &Places) -> Script {
    let seen = Arc::clone(seen);
    Script::with(move |request: &ModelRequest<'_>| {
        let cx = request.cx;
        let place = [
            cx.conversation(),
            cx.workspace(),
            cx.user(),
            cx.session(),
            cx.agent(),
        ];
        seen.lock()
            .unwrap()
            .push(place.map(|text| text.unwrap_or_default().to_owned()));
        // A conversation that two tasks share would contain the messages of both.
        assert_eq!(request.messages.len(), 1);
        let task = &request.messages[0].content;
        Ok(ModelMessage::text(format!(
            "{} {task}",
            cx.workspace().unwrap_or_default()
        )))
    })
}

// S2-33: concurrent questions to one agent from two workspaces have separate conversations
#[tokio::test(start_paused = true)]
async fn questions_at_the_same_time_do_not_share_a_conversation() {
    let seen = Places::default();
    let agents = team(&turns(), [("law", timed(1, places(&seen)))]);
    let cx = |workspace: &str| context().workspace(workspace).user(workspace).build();
    let (acme, globex) = (cx("acme"), cx("globex"));
    let ask = |task: &str, cx| agents.ask(AgentTask::new("law", task), cx);
    let began = tokio::time::Instant::now();
    let (first, second, third) =
        tokio::join!(ask("one", &acme), ask("two", &acme), ask("three", &globex));
    assert_eq!(began.elapsed(), Duration::from_secs(1));
    assert_eq!(first.unwrap().text, r#"acme "one""#);
    assert_eq!(second.unwrap().text, r#"acme "two""#);
    assert_eq!(third.unwrap().text, r#"globex "three""#);
    let seen = seen.lock().unwrap();
    let conversations: BTreeSet<_> = seen.iter().map(|[conversation, ..]| conversation).collect();
    assert_eq!(conversations.len(), 3);
    assert!(conversations.iter().all(|id| id.starts_with("agent:law:")));
    let rest: BTreeSet<_> = seen.iter().map(|[_, rest @ ..]| rest.join(" ")).collect();
    assert_eq!(
        rest.into_iter().collect::<Vec<_>>(),
        ["acme acme s-1 law", "globex globex s-1 law"]
    );
}

// S2-33: the agent has the remaining time of the call
#[tokio::test(start_paused = true)]
async fn agent_has_the_time_of_the_call() {
    let left = Arc::new(Mutex::new(None));
    let seen = Arc::clone(&left);
    let script = Script::with(move |request| {
        *seen.lock().unwrap() = request.cx.remaining();
        Ok(ModelMessage::text("fine"))
    });
    let agents = team(&turns(), [("law", ScriptedModel::new([script]))]);
    let cx = context().deadline(Duration::from_secs(20)).build();
    tokio::time::sleep(Duration::from_secs(5)).await;
    agents
        .ask(AgentTask::new("law", "May we?"), &cx)
        .await
        .unwrap();
    assert_eq!(*left.lock().unwrap(), Some(Duration::from_secs(15)));
}

// S2-33: an agent that was asked cannot ask agents, unless the host allows it, and can never ask an agent that waits for its answer
#[tokio::test]
async fn depth_of_questions_is_limited() {
    let run = async |depth: Option<u32>, of_tax: &'static str| {
        let turns = turns();
        // The tools need the team that contains the agent, so they are set after the team was built.
        let late = Arc::new(std::sync::OnceLock::<Team>::new());
        let tools = |late: &Arc<std::sync::OnceLock<Team>>| {
            let late = Arc::clone(late);
            move |_: &ToolContext| only(late.get().unwrap().consult_specialist().unwrap())
        };
        let result = |request: &ModelRequest<'_>| {
            let last = request.messages.last().unwrap().content.clone();
            let last: serde_json::Value = serde_json::from_str(&last).unwrap();
            Ok(ModelMessage::text(last["text"].as_str().unwrap()))
        };
        let asks = |id: &str| {
            calls(
                "consult_specialist",
                &json!({"agentId": id, "task": "Help."}),
            )
        };
        let law = ScriptedModel::new([asks("tax"), Script::with(result)]);
        let tax = ScriptedModel::new([asks(of_tax), Script::with(result)]);
        let press = ScriptedModel::new([Script::text("the press answers")]);
        let law = Agent::builder("law", law).tools(tools(&late)).build();
        let tax = Agent::builder("tax", tax).tools(tools(&late)).build();
        let mut agents = LocalTeam::builder(&turns)
            .member(member("law"), law.unwrap())
            .member(member("tax"), tax.unwrap())
            .member(member("press"), agent("press", press));
        if let Some(depth) = depth {
            agents = agents.most_depth(depth);
        }
        let team = Team::builder(agents.build().unwrap()).build().unwrap();
        let tools = only(team.consult_specialist().unwrap());
        late.set(team).unwrap();
        let task = call(
            "consult_specialist",
            &json!({"agentId": "law", "task": "Help."}),
        );
        output(&tools.call(task, &context().build()).await)["text"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let denied = "the chain of agents that ask each other has reached its limit";
    assert!(run(None, "press").await.contains(denied));
    assert!(run(Some(2), "press").await.contains(denied));
    assert!(run(Some(3), "press").await.contains("the press answers"));
    let waits = run(Some(9), "law").await;
    assert!(
        waits.contains("the agent `law` waits for this answer itself"),
        "{waits}"
    );
}

// S2-33: an agent that waits for an approval returns no answer: the text of the error contains the tool, and the approval is withdrawn
#[tokio::test]
async fn agent_that_waits_for_an_approval_has_no_answer() {
    let store = MemoryStore::default();
    let approvals = Approvals::builder(store.clone()).build().unwrap();
    let gate = Gate::builder()
        .approvals(approvals)
        .ledger(store.clone())
        .build();
    let turns = Turns::new(store);
    let guarded = gate.clone();
    let (conversation, model) = (Arc::new(Mutex::new(None)), calls("send", &json!({})));
    let seen = Arc::clone(&conversation);
    let model = Script::with(move |request| {
        *seen.lock().unwrap() = request.cx.thread();
        model.reply(request)
    });
    let law = Agent::builder("law", ScriptedModel::new([model]))
        .tools(move |_| toolset![send].through(&guarded));
    let agents = LocalTeam::builder(&turns).member(member("law"), law.build().unwrap());
    let agents = agents.build().unwrap();
    let asked = agents
        .ask(AgentTask::new("law", "Send it."), &context().build())
        .await;
    let text = asked.unwrap_err().model_text();
    assert!(
        text.contains("its call of `send` needs the approval of a person"),
        "{text}"
    );
    let thread = conversation.lock().unwrap().clone().unwrap();
    let waiting = gate.approvals().unwrap().waiting(&thread).await.unwrap();
    assert!(waiting.is_empty(), "{waiting:?}");
}

// S2-33: each end of a run without an answer is an error whose text contains the reason
#[tokio::test]
async fn run_without_an_answer_is_an_error() {
    let schema = json!({"type": "object", "properties": {}, "additionalProperties": false});
    let client = move || {
        only(DynamicTool::client(
            "pick",
            "Picks a file.",
            schema.clone(),
            &json!({"type": "string"}),
        ))
    };
    let endless = || (0..50).map(|_| calls("add", &json!({"a": 1, "b": 2})));
    let cut = |stop| {
        let mut message = ModelMessage::text("It is");
        message.stop = Some(stop);
        ScriptedModel::new([Script::message(message)])
    };
    let tools = |model| Agent::builder("law", model).tools(|_| toolset![add]);
    let cases = [
        (
            tools(ScriptedModel::new(endless())).most_steps(3),
            "limit on steps",
            ErrorKind::Failed,
        ),
        (
            tools(cut(StopReason::Length)),
            "limit on tokens",
            ErrorKind::Failed,
        ),
        (
            tools(cut(StopReason::Filtered)),
            "withheld the answer",
            ErrorKind::Failed,
        ),
        (tools(cut(StopReason::Cut)), "incomplete", ErrorKind::Failed),
        (
            tools(ScriptedModel::new([fails()])),
            "overloaded",
            ErrorKind::Failed,
        ),
        (
            Agent::builder("law", ScriptedModel::new([calls("pick", &json!({}))]))
                .tools(move |_| client()),
            "`pick` has to be run by the client",
            ErrorKind::Failed,
        ),
    ];
    for (agent, expected, kind) in cases {
        let agents = LocalTeam::builder(&turns()).member(member("law"), agent.build().unwrap());
        let agents = agents.build().unwrap();
        let asked = agents
            .ask(AgentTask::new("law", "Help."), &context().build())
            .await;
        let error = asked.unwrap_err();
        assert_eq!(error.kind(), kind);
        let text = error.model_text();
        assert!(
            text.contains(expected) && !text.contains("host-17"),
            "{text}"
        );
    }
    let agents = team(&turns(), [("law", timed(0, Script::text("fine")))]);
    let cx = context().build();
    let unknown = agents
        .ask(AgentTask::new("tax", "Help."), &cx)
        .await
        .unwrap_err();
    assert_eq!(
        unknown.model_text(),
        "there is no agent `tax`: ask one of `law`"
    );
    let blank = agents
        .ask(AgentTask::new("law", "  "), &cx)
        .await
        .unwrap_err();
    assert_eq!(blank.kind(), ErrorKind::InvalidArguments);
}

// The requests of an agent that another agent asks are charged to the budget of the call, also those of the sub-agent of `spawn_task`.
#[tokio::test]
async fn asked_agent_shares_the_budget_of_the_call() {
    const USED: u64 = 10_000;
    let model = || {
        let mut message = ModelMessage::text("fine");
        message.usage = Some(Usage {
            output_tokens: USED,
            ..Usage::default()
        });
        ScriptedModel::new([Script::message(message)])
    };
    let turns = turns();
    let agents = team(&turns, [("law", model())]);
    let team = Team::builder(agents).build().unwrap();
    let specialist = json!({"agentId": "law", "task": "Help."});
    let spawn = json!({"task": "Help.", "label": null});
    for (tool, name, arguments) in [
        (
            team.consult_specialist().unwrap(),
            "consult_specialist",
            specialist,
        ),
        (
            SpawnTask::new(&turns, model(), |_| toolset![add])
                .build()
                .unwrap(),
            "spawn_task",
            spawn,
        ),
    ] {
        let (store, tools) = (MemoryStore::default(), only(tool));
        let run = async |most: u64| {
            let budget = Budget::new(store.clone(), "tree").output_tokens(USED - 1_000);
            let cx = context().with(budget.most_tokens(most)).build();
            tools.call(call(name, &arguments), &cx).await
        };
        assert!(!run(USED).await.is_error(), "{name}");
        let id = BudgetId::new(&Workspace::new("acme"), "tree").unwrap();
        let row = store.budget(&id).await.unwrap().unwrap();
        assert_eq!(row.spent.tokens, USED, "{name}");
        // The budget is used up, so the next agent sends no request.
        let text = run(USED).await.model_text();
        assert!(text.contains("the budget that the agents share"), "{text}");
    }
}

// The audit row of a call names the conversation of the agent that was asked, so that an operator finds it.
#[tokio::test]
async fn audit_row_names_the_conversation_of_the_agent() {
    let model = || ScriptedModel::new([Script::text("fine")]);
    let turns = turns();
    let team = Team::builder(team(&turns, [("law", model())]))
        .build()
        .unwrap();
    let spawn = SpawnTask::new(&turns, model(), |_| toolset![add]);
    for (tool, name, arguments, agent) in [
        (
            team.consult_specialist().unwrap(),
            "consult_specialist",
            json!({"agentId": "law", "task": "Help."}),
            "law",
        ),
        (
            spawn.build().unwrap(),
            "spawn_task",
            json!({"task": "Help.", "label": null}),
            "spawn_task",
        ),
    ] {
        let store = MemoryStore::default();
        let gate = Gate::builder()
            .audit(Audit::required(store.clone()))
            .build();
        let cx = context().build();
        let tools = only(tool).through(&gate);
        assert!(!tools.call(call(name, &arguments), &cx).await.is_error());
        let rows = store.export(Scope::All, &AuditFilter::default()).await;
        let notes = rows.unwrap().remove(0).notes.into_iter();
        let mut notes = notes.filter(|note| note.action == "agent.asked");
        let details = notes.next().unwrap().details;
        let details: serde_json::Value = serde_json::from_str(&details).unwrap();
        assert_eq!(details["agent"], agent);
        let conversation = details["conversation"].as_str().unwrap();
        let asked = context().conversation(conversation).build();
        let messages = turns.messages(&asked, None).await.unwrap();
        assert!(messages[0].content.contains("Help."), "{messages:?}");
    }
}
