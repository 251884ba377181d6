//! Sub-agents in their own threads.

use std::sync::atomic::{AtomicU32, Ordering};

use serde::Deserialize;
use serde_json::{Value, json};
use tool_agent::runtime::{PromptTool, SpawnGate, Subagent};
use tool_core::Reply;
use tool_core::prelude::*;
use tool_core::store::{ChildKind, ChildState, Role};
use tool_core::turn::{ModelMessage, Outcome};

use crate::support::{
    Host, Log, agent, calls, context, entry, in_conversation, only_child, payload, results, text,
    thinking, worker,
};

/// Returns the depth of a fjord.
#[tool(read_only)]
fn depth() -> i32 {
    1308
}

/// Returns the price.
#[tool(read_only)]
fn price() -> i32 {
    7
}

/// Writes a note.
#[tool(read_only)]
fn note() -> i32 {
    1
}

// S4-30, S4-41: a call that waits returns the answer, and no message can be sent to the child afterwards.
#[tokio::test]
async fn blocking_call_returns_the_answer() {
    let (host, log) = (Host::new(), Log::default());
    let chief = agent(
        "chief",
        &log,
        [
            calls([("researcher", json!({"message": "How deep?"}))]),
            text("Done."),
        ],
    );
    let researcher = agent(
        "researcher",
        &log,
        [calls([("depth", json!({}))]), text("1,308 m.")],
    );
    let runtime = host
        .runtime()
        .agent(entry(chief).subagent(Subagent::new("researcher")))
        .agent(worker(researcher.tools(|_| toolset![depth])))
        .build()
        .unwrap();
    let cx = context().build();
    let outcome = runtime.respond("chief", "Go.", &cx).await.unwrap();
    assert!(matches!(outcome, Outcome::Answered(text) if text == "Done."));
    let result = results(&host, &cx).await.remove(0);
    assert_eq!(result.text, "1,308 m.");
    assert_eq!(payload(&result).subagent_id, None);

    let row = only_child(&runtime, &cx).await;
    assert_eq!(
        (row.kind, row.state, row.depth),
        (ChildKind::Subagent, ChildState::Terminated, 1)
    );
    assert_eq!((row.session, row.delivered), (1, 1));
    assert_eq!(row.parent, cx.thread().unwrap());
    // The child has its own thread, and neither thread contains the other's messages.
    let child = in_conversation(row.thread.conversation());
    let messages = host.turns().messages(&child, None).await.unwrap();
    let roles: Vec<Role> = messages.iter().map(|message| message.role).collect();
    assert_eq!(
        roles,
        [Role::User, Role::Assistant, Role::Tool, Role::Assistant]
    );
    let parent = host.turns().messages(&cx, None).await.unwrap();
    assert_eq!(parent.len(), 4);
    assert!(
        !log.of("chief")[0]
            .tools
            .iter()
            .any(|tool| tool.starts_with("subagent"))
    );
}

// S4-30, S4-45: a call that does not wait returns a reference at once, and the answer is delivered later as exactly one message.
#[tokio::test]
async fn answer_of_a_background_call_is_delivered_once() {
    let (host, log) = (Host::new(), Log::default());
    let chief = thinking("chief", &log, |request| {
        let last = request.last(Role::User);
        Ok(if last.contains("subagent_result") {
            text("It is 1,308 m deep.")
        } else if request.step() == 0 {
            calls([("researcher", json!({"message": "How deep?"}))])
        } else {
            text("I wait.")
        })
    });
    let researcher = agent("researcher", &log, [text("1,308 m.")]);
    let runtime = host
        .runtime()
        .agent(entry(chief).subagent(Subagent::new("researcher").blocking(false)))
        .agent(worker(researcher))
        .build()
        .unwrap();
    let cx = context().build();
    let outcome = runtime.respond("chief", "Go.", &cx).await.unwrap();
    assert!(matches!(outcome, Outcome::Answered(_)), "{outcome:?}");
    runtime.idle().await;

    let row = only_child(&runtime, &cx).await;
    let reference = row.thread.conversation().to_owned();
    let result = results(&host, &cx).await.remove(0);
    assert_eq!(payload(&result).subagent_id.as_deref(), Some(&*reference));
    assert!(result.text.contains("has started"), "{}", result.text);
    let messages = host.turns().messages(&cx, None).await.unwrap();
    let inbox: Vec<&str> = messages
        .iter()
        .filter(|message| message.role == Role::User)
        .map(|message| &*message.content)
        .collect();
    assert_eq!(inbox.len(), 2, "{inbox:?}");
    let report: Value =
        serde_json::from_str(&serde_json::from_str::<String>(inbox[1]).unwrap()).unwrap();
    assert_eq!(report["type"], "subagent_result");
    assert_eq!(report["subagent_id"], reference);
    assert_eq!(
        (&report["status"], &report["result"]),
        (&json!("success"), &json!("1,308 m."))
    );
    assert_eq!(row.delivered, 1);
    let said = messages.last().unwrap();
    assert!(
        said.content.contains("It is 1,308 m deep."),
        "{}",
        said.content
    );
    // Another drive delivers nothing.
    runtime.drive("chief", &cx).await.unwrap();
    runtime.idle().await;
    assert_eq!(
        host.turns().messages(&cx, None).await.unwrap().len(),
        messages.len()
    );
}

// S4-31, S4-33: the first message is one property of the arguments, or all arguments. White space in the display name is collapsed, and the name is cut to
// 120 characters.
#[tokio::test]
async fn first_message_and_name_are_properties_of_the_arguments() {
    /// The arguments.
    #[derive(Deserialize, StrictSchema)]
    #[expect(dead_code, reason = "only the schema is used")]
    struct Topic {
        /// The topic.
        topic: String,
        /// The title.
        title: String,
    }

    let title = format!("  Fjord \n study {}", "x".repeat(200));
    let arguments = json!({"topic": "fjords", "title": title});
    for (tool, first) in [
        (Subagent::new("researcher"), arguments.to_string()),
        (
            Subagent::new("researcher").init_user_message("topic"),
            "fjords".to_owned(),
        ),
    ] {
        let (host, log) = (Host::new(), Log::default());
        let chief = agent(
            "chief",
            &log,
            [calls([("researcher", arguments.clone())]), text("Done.")],
        );
        let runtime = host
            .runtime()
            .agent(entry(chief).subagent(tool.init_agent_name("title")))
            .agent(worker(agent("researcher", &log, [text("1,308 m.")])).arguments::<Topic>())
            .build()
            .unwrap();
        let cx = context().build();
        runtime.respond("chief", "Go.", &cx).await.unwrap();
        let read = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_else(|_| text.into());
        assert_eq!(
            read(&log.of("researcher")[0].last(Role::User)),
            read(&first)
        );
        let row = only_child(&runtime, &cx).await;
        let tag = row.tag().unwrap();
        assert!(tag.starts_with("name:Fjord study xxx"), "{tag}");
        assert_eq!(tag.chars().count(), "name:".len() + 120);
    }
}

// S0-25: each missing condition of the spawn gate refuses the call with its own reason, and no thread is created.
#[tokio::test]
async fn spawn_gate_refuses_with_a_reason() {
    let run = async |gate: SpawnGate| {
        let (host, log) = (Host::new(), Log::default());
        let chief = agent(
            "chief",
            &log,
            [
                calls([("middle", json!({"message": "Go."}))]),
                text("Done."),
            ],
        );
        let middle = agent(
            "middle",
            &log,
            [
                calls([("last", json!({"message": "Go."}))]),
                text("Middle."),
            ],
        );
        let runtime = host
            .runtime()
            .agent(entry(chief).subagent(Subagent::new("middle")))
            .agent(
                worker(middle)
                    .subagent(Subagent::new("last"))
                    .subagent(Subagent::new("third"))
                    .spawn(gate),
            )
            .agent(worker(agent("last", &log, [text("Last.")])))
            .agent(worker(agent("third", &log, [text("Third.")])))
            .build()
            .unwrap();
        let cx = context().build();
        runtime.respond("chief", "Go.", &cx).await.unwrap();
        let row = only_child(&runtime, &cx).await;
        let below = in_conversation(row.thread.conversation());
        let children = runtime.children(&below).await.unwrap().len();
        (results(&host, &below).await.remove(0).text, children)
    };
    let (text, children) = run(SpawnGate::disabled()).await;
    assert_eq!(
        (&*text, children),
        ("the agent `middle` may not start other agents", 0)
    );
    let (text, children) = run(SpawnGate::default().targets(["third"]).most_depth(2)).await;
    assert_eq!(
        (&*text, children),
        ("the agent `middle` may not start the agent `last`", 0)
    );
    let (text, children) = run(SpawnGate::default()).await;
    assert_eq!(
        (&*text, children),
        (
            "the agent `middle` runs at depth 1 and starts no other agents",
            0
        )
    );
    let (text, children) = run(SpawnGate::default().targets(["last"]).most_depth(2)).await;
    assert_eq!((&*text, children), ("Last.", 1));
}

/// Returns the replies of an agent that calls another agent and then answers.
fn calling(agent: &str) -> [ModelMessage; 2] {
    [calls([(agent, json!({"message": "Go."}))]), text("Done.")]
}

// S0-25: a prompt starts an agent only if the gate of each agent that runs the prompt, directly or through other prompts, permits it.
#[tokio::test]
async fn prompt_starts_no_agent_that_its_callers_may_not_start() {
    let run = async |of_chief: SpawnGate, of_outer: SpawnGate| {
        let (host, log) = (Host::new(), Log::default());
        let runtime = host
            .runtime()
            .agent(
                entry(agent("chief", &log, calling("outer")))
                    .prompt(PromptTool::new("outer"))
                    .subagent(Subagent::new("third"))
                    .spawn(of_chief),
            )
            .agent(
                entry(agent("outer", &log, calling("inner")))
                    .expose("Runs a prompt.")
                    .prompt(PromptTool::new("inner"))
                    .subagent(Subagent::new("third"))
                    .spawn(of_outer),
            )
            .agent(
                entry(agent("inner", &log, calling("last")))
                    .expose("Starts an agent.")
                    .subagent(Subagent::new("last")),
            )
            .agent(worker(agent("last", &log, [text("Last.")])))
            .agent(worker(agent("third", &log, [text("Third.")])))
            .build()
            .unwrap();
        let cx = context().build();
        runtime.respond("chief", "Go.", &cx).await.unwrap();
        let outer = only_child(&runtime, &cx).await;
        let outer = in_conversation(outer.thread.conversation());
        let inner = only_child(&runtime, &outer).await;
        let inner = in_conversation(inner.thread.conversation());
        let children = runtime.children(&inner).await.unwrap().len();
        (results(&host, &inner).await.remove(0).text, children)
    };
    let third = || SpawnGate::default().targets(["third"]);
    for (of_chief, of_outer, expected) in [
        (
            SpawnGate::disabled(),
            SpawnGate::default(),
            ("the agent `chief` may not start other agents", 0),
        ),
        (
            third(),
            SpawnGate::default(),
            ("the agent `chief` may not start the agent `last`", 0),
        ),
        (
            SpawnGate::default(),
            third(),
            ("the agent `outer` may not start the agent `last`", 0),
        ),
        (SpawnGate::default(), SpawnGate::default(), ("Last.", 1)),
    ] {
        let (text, children) = run(of_chief, of_outer).await;
        assert_eq!((&*text, children), expected);
    }
}

// S0-25: a prompt has the depth of the thread that calls it, so a sub-agent cannot start agents below the limit through a prompt.
#[tokio::test]
async fn prompt_has_the_depth_of_its_caller() {
    let run = async |of_middle: u32, of_helper: u32| {
        let (host, log) = (Host::new(), Log::default());
        let gate = |depth| SpawnGate::default().most_depth(depth);
        let runtime = host
            .runtime()
            .agent(entry(agent("chief", &log, calling("middle"))).subagent(Subagent::new("middle")))
            .agent(
                worker(agent("middle", &log, calling("helper")))
                    .prompt(PromptTool::new("helper"))
                    .spawn(gate(of_middle)),
            )
            .agent(
                entry(agent("helper", &log, calling("last")))
                    .expose("Helps.")
                    .subagent(Subagent::new("last"))
                    .spawn(gate(of_helper)),
            )
            .agent(worker(agent("last", &log, [text("Last.")])))
            .build()
            .unwrap();
        let cx = context().build();
        runtime.respond("chief", "Go.", &cx).await.unwrap();
        let middle = only_child(&runtime, &cx).await;
        let middle = in_conversation(middle.thread.conversation());
        let helper = only_child(&runtime, &middle).await;
        let helper = in_conversation(helper.thread.conversation());
        let depths = runtime.children(&helper).await.unwrap().into_iter();
        let depths: Vec<u32> = depths.map(|row| row.depth).collect();
        (results(&host, &helper).await.remove(0).text, depths)
    };
    let (text, children) = run(2, 1).await;
    assert_eq!(
        text,
        "the agent `helper` runs at depth 1 and starts no other agents"
    );
    assert!(children.is_empty());
    let (text, children) = run(1, 2).await;
    assert_eq!(
        text,
        "the agent `middle` runs at depth 1 and starts no other agents"
    );
    assert!(children.is_empty());
    let (text, children) = run(2, 2).await;
    assert_eq!((&*text, &*children), ("Last.", &[2][..]));
}

// S0-17, S0-18: a sub-agent has the tools that its own list and its parent's list allow; disjoint lists allow no tool, and the deny lists of both apply.
#[tokio::test]
async fn lists_of_parent_and_child_are_combined() {
    for (parent, child, denied, expected) in [
        (vec![], vec![], vec![], vec!["depth", "note", "price"]),
        (
            vec!["worker", "depth", "price"],
            vec!["price", "note"],
            vec![],
            vec!["price"],
        ),
        (vec!["worker", "depth"], vec!["note"], vec![], vec![]),
        (vec![], vec!["note"], vec![], vec!["note"]),
        (vec![], vec!["note", "price"], vec!["note"], vec!["price"]),
    ] {
        let (host, log) = (Host::new(), Log::default());
        let tools = |_: &ToolContext| toolset![depth, price, note];
        let chief = agent(
            "chief",
            &log,
            [
                calls([("worker", json!({"message": "Go."}))]),
                text("Done."),
            ],
        );
        let mut chief = entry(chief.tools(tools))
            .subagent(Subagent::new("worker"))
            .deny(denied);
        if !parent.is_empty() {
            chief = chief.allow(parent);
        }
        let child = worker(agent("worker", &log, [text("Done.")]).tools(tools)).allow(child);
        let runtime = host.runtime().agent(chief).agent(child).build().unwrap();
        runtime
            .respond("chief", "Go.", &context().build())
            .await
            .unwrap();
        assert_eq!(log.of("worker")[0].tools, expected);
    }
}

/// Publishes the result.
#[tool(destructive, approval)]
fn publish() -> &'static str {
    PUBLISHED.fetch_add(1, Ordering::SeqCst);
    "published"
}

static PUBLISHED: AtomicU32 = AtomicU32::new(0);

// If a call of a sub-agent waits for an approval, at any depth, the turn of the parent waits, and the call runs once.
#[tokio::test]
async fn approval_of_a_nested_sub_agent_is_waited_for() {
    let (host, log) = (Host::new(), Log::default());
    let chief = agent(
        "chief",
        &log,
        [
            calls([("middle", json!({"message": "Go."}))]),
            text("Done."),
        ],
    );
    let middle = agent(
        "middle",
        &log,
        [
            calls([("last", json!({"message": "Go."}))]),
            text("Middle."),
        ],
    );
    let last = agent(
        "last",
        &log,
        [calls([("publish", json!({}))]), text("Last.")],
    );
    let runtime = host
        .runtime()
        .agent(entry(chief).subagent(Subagent::new("middle")))
        .agent(
            worker(middle)
                .subagent(Subagent::new("last"))
                .spawn(SpawnGate::default().most_depth(2)),
        )
        .agent(worker(last.tools(|_| toolset![publish])))
        .build()
        .unwrap();
    let cx = context().build();
    let outcome = runtime.respond("chief", "Go.", &cx).await.unwrap();
    let Outcome::Waiting(tickets) = outcome else {
        panic!("{outcome:?}")
    };
    let row = only_child(&runtime, &cx).await;
    assert_eq!(row.state, ChildState::AwaitingHuman);
    let waiting = runtime.waiting(&cx).await.unwrap();
    assert_eq!((waiting.len(), &waiting[0].id), (1, &tickets[0].id));
    let tools = toolset![publish].through(&host.gate);
    let (workspace, token) = (cx.own_workspace(), &tickets[0].token);
    let answer = host.gate.approvals().unwrap();
    let answer = answer.answer(&workspace, &tools, token, Reply::Approve, "olga", None);
    answer.await.unwrap();
    let outcome = runtime.drive("chief", &cx).await.unwrap();
    assert!(matches!(outcome, Outcome::Answered(text) if text == "Done."));
    assert_eq!(PUBLISHED.load(Ordering::SeqCst), 1);
    assert_eq!(results(&host, &cx).await[0].text, "Middle.");
    assert_eq!(
        only_child(&runtime, &cx).await.state,
        ChildState::Terminated
    );
}
