//! Sub-agents that accept more messages.

use serde::Deserialize;
use serde_json::{Value, json};
use tool_agent::runtime::{
    AgentRuntime, ParentCommunication, ParentThread, Resumable, RuntimeError, Session, Side,
    Subagent,
};
use tool_core::prelude::*;
use tool_core::store::{ChildState, Role};
use tool_core::turn::{ModelMessage, Outcome};
use tool_core::{DynamicTool, Registry};

use crate::support::{
    Host, Log, Request, agent, calls, context, entry, in_conversation, only_child, payload,
    results, text, thinking, worker,
};

fn create(agent: &str, name: &str, message: &str) -> ModelMessage {
    calls([(
        "subagent_create",
        json!({"agent": agent, "name": name, "message": message, "attachments": []}),
    )])
}

/// Returns the first reference in the results that a request contains.
fn reference(request: &Request) -> String {
    let results = request
        .messages
        .iter()
        .filter(|message| message.role == Role::Tool);
    let mut ids = results.filter_map(|message| {
        let result: Value = serde_json::from_str(&message.content).unwrap();
        Some(result["output"]["subagent_id"].as_str()?.to_owned())
    });
    ids.next().unwrap_or_default()
}

fn send(reference: &str, message: &str) -> ModelMessage {
    calls([(
        "subagent_message",
        json!({"referenceId": reference, "message": message, "attachments": []}),
    )])
}

/// Returns a chief that runs the command which the user writes: `create NAME`, `send TEXT`, or a tool and its
/// arguments.
fn chief(log: &Log) -> tool_agent::agent::AgentBuilder {
    thinking("chief", log, |request| {
        if request.step() > 0 {
            return Ok(text("Done."));
        }
        let last = request.last(Role::User);
        let (word, rest) = last.split_once(' ').unwrap_or((&last, ""));
        Ok(match word {
            "create" => create("researcher", rest, "Begin."),
            "send" => send(&reference(request), rest),
            "call" => {
                let (name, arguments) = rest.split_once(' ').unwrap();
                calls([(name, serde_json::from_str(arguments).unwrap())])
            }
            _ => text("Noted."),
        })
    })
}

/// Returns a researcher that repeats the last message.
fn echo(log: &Log) -> tool_agent::agent::AgentBuilder {
    thinking("researcher", log, |request| {
        Ok(text(&format!("heard {}", request.last(Role::User))))
    })
}

fn runtime(host: &Host, log: &Log, tool: Subagent) -> AgentRuntime {
    host.runtime()
        .agent(entry(chief(log)).subagent(tool))
        .agent(worker(echo(log)))
        .build()
        .unwrap()
}

fn waiting() -> Subagent {
    Subagent::new("researcher").resumable(Resumable::new())
}

async fn ask(runtime: &AgentRuntime, message: &str) {
    let outcome = runtime.respond("chief", message, &context().build()).await;
    assert!(matches!(outcome, Ok(Outcome::Answered(_))), "{outcome:?}");
    runtime.idle().await;
}

async fn last_result(host: &Host) -> tool_core::turn::ToolMessage {
    results(host, &context().build()).await.pop().unwrap()
}

// S4-42, S4-47, S4-49: a reference is valid in another process, and a message after the end of a session begins the next one.
#[tokio::test]
async fn reference_survives_a_restart() {
    let (host, log) = (Host::new(), Log::default());
    let first = runtime(&host, &log, waiting());
    ask(&first, "create Fjords").await;
    let created = last_result(&host).await;
    let id = payload(&created).subagent_id.unwrap();
    assert!(created.text.starts_with("heard Begin."), "{}", created.text);
    assert_eq!(
        only_child(&first, &context().build()).await.state,
        ChildState::Idle
    );
    drop(first);

    let second = runtime(&Host::with(host.store.clone()), &log, waiting());
    ask(&second, "send And the sea?").await;
    let answer = last_result(&host).await;
    assert!(
        answer.text.starts_with("heard And the sea?"),
        "{}",
        answer.text
    );
    assert_eq!(payload(&answer).subagent_id, Some(id));
    let row = only_child(&second, &context().build()).await;
    assert_eq!(
        (row.session, row.delivered, row.state),
        (2, 2, ChildState::Idle)
    );
    // The second session has read the first one.
    assert_eq!(
        log.of("researcher")[1].texts(Role::User),
        ["Begin.", "And the sea?"]
    );
}

// S4-48, S4-50: the tools exist only for an agent with resumable sub-agents. `subagent_message` and `subagents` need a live instance, and the enum of
// agents contains only agents whose flags are on.
#[tokio::test]
async fn tools_follow_the_flags_and_the_live_instances() {
    let (host, log) = (Host::new(), Log::default());
    let runtime = host
        .runtime()
        .agent(
            entry(chief(&log))
                .subagent(waiting().optional("RESEARCH"))
                .subagent(
                    Subagent::new("writer")
                        .resumable(Resumable::new())
                        .optional("WRITE"),
                ),
        )
        .agent(worker(echo(&log)))
        .agent(worker(agent("writer", &log, [text("Written.")])))
        .agent(entry(agent("plain", &log, [text("Hello.")])))
        .build()
        .unwrap();
    let offered = |request: &Request| {
        let definitions: Value = serde_json::from_str(&request.definitions).unwrap();
        let definitions = definitions.as_array().unwrap().iter();
        let mut create = definitions.filter(|tool| tool["name"] == "subagent_create");
        create.next().map(|tool| {
            let text = tool.to_string();
            ["researcher", "writer"].map(|name| text.contains(&format!("\"{name}\"")))
        })
    };
    for (research, write, expected) in [
        ("", "", None),
        ("on", "yes", Some([false, true])),
        ("TRUE", "no", Some([true, false])),
        ("1", "Yes", Some([true, true])),
    ] {
        let cx = context()
            .variable("RESEARCH", research)
            .variable("WRITE", write)
            .build();
        runtime.respond("chief", "Hello.", &cx).await.unwrap();
        let request = log.of("chief").pop().unwrap();
        assert_eq!(offered(&request), expected, "{research} {write}");
        assert!(!request.tools.contains(&"subagent_message".to_owned()));
    }
    let cx = context().variable("RESEARCH", "1").build();
    runtime
        .respond("chief", "create Fjords", &cx)
        .await
        .unwrap();
    let request = log.of("chief").pop().unwrap();
    // The instance is live, so its tools are offered in the next step, even if the agent is switched off.
    for tool in ["subagent_message", "subagents"] {
        assert!(
            request.tools.contains(&tool.to_owned()),
            "{:?}",
            request.tools
        );
    }
    runtime
        .respond("chief", "Hello.", &context().build())
        .await
        .unwrap();
    assert_eq!(
        log.of("chief").pop().unwrap().tools,
        ["subagent_message", "subagents"]
    );
    let plain = in_conversation("plain");
    runtime.respond("plain", "Hello.", &plain).await.unwrap();
    assert!(log.of("plain")[0].tools.is_empty());
}

/// The arguments of the researcher.
#[derive(Deserialize, StrictSchema)]
#[expect(dead_code, reason = "only the schema is used")]
struct Plan {
    /// The depth.
    depth: i32,
}

// S4-51: each missing or empty field of `subagent_create` has its own error, and the arguments have to match the schema of the agent.
#[tokio::test]
async fn fields_of_a_creation_are_checked() {
    let (host, log) = (Host::new(), Log::default());
    let runtime = host
        .runtime()
        .agent(entry(chief(&log)).subagent(waiting()))
        .agent(worker(echo(&log)).arguments::<Plan>())
        .build()
        .unwrap();
    let valid = json!({
        "agent": "researcher", "name": "Fjords", "message": "Begin.", "attachments": [], "arguments": {"depth": 2},
    });
    for field in ["agent", "name", "message", "attachments", "arguments"] {
        let mut arguments = valid.clone();
        arguments.as_object_mut().unwrap().remove(field);
        ask(&runtime, &format!("call subagent_create {arguments}")).await;
        let result = last_result(&host).await;
        assert!(
            result.is_error() && result.text.contains(&format!("/{field}")),
            "{}",
            result.text
        );
    }
    for (field, value, part) in [
        ("name", json!("  \n "), "`name` is empty"),
        ("message", json!(" "), "`message` is empty"),
        ("name", json!(""), "/name"),
        ("agent", json!("nobody"), "/agent"),
        ("arguments", json!({"depth": "two"}), "/arguments/depth"),
    ] {
        let mut arguments = valid.clone();
        arguments[field] = value;
        ask(&runtime, &format!("call subagent_create {arguments}")).await;
        let result = last_result(&host).await;
        assert!(
            result.is_error() && result.text.contains(part),
            "{}",
            result.text
        );
    }
    assert!(
        runtime
            .children(&context().build())
            .await
            .unwrap()
            .is_empty()
    );
    ask(&runtime, &format!("call subagent_create {valid}")).await;
    assert_eq!(
        log.of("researcher")[0].last(Role::User),
        "Begin.\narguments: {\"depth\":2}"
    );
}

// S4-52: the name is stored with the child and is part of the list.
#[tokio::test]
async fn name_is_stored_and_listed() {
    let (host, log) = (Host::new(), Log::default());
    let runtime = runtime(&host, &log, waiting());
    ask(&runtime, "create  Deep   fjords").await;
    let row = only_child(&runtime, &context().build()).await;
    assert_eq!(row.tag().as_deref(), Some("name:Deep fjords"));
    ask(&runtime, "call subagents {}").await;
    let listed = last_result(&host).await;
    let id = row.thread.conversation();
    assert_eq!(listed.text, format!("{id} (researcher, Deep fjords): idle"));
}

// S4-44: a creation at the limit is refused, and the error lists the live instances. Terminated instances do
// not count.
#[tokio::test]
async fn instances_are_limited() {
    let (host, log) = (Host::new(), Log::default());
    let tool = Subagent::new("researcher").resumable(Resumable::new().most_instances(2));
    let runtime = runtime(&host, &log, tool);
    let cx = context().build();
    for name in ["one", "two", "three"] {
        ask(&runtime, &format!("create {name}")).await;
    }
    let refused = last_result(&host).await;
    assert!(refused.is_error());
    let rows = runtime.children(&cx).await.unwrap();
    assert_eq!(rows.len(), 2);
    for row in &rows {
        assert!(
            refused.text.contains(row.thread.conversation()),
            "{}",
            refused.text
        );
    }
    let ended = runtime
        .terminate(rows[0].thread.conversation(), &cx)
        .await
        .unwrap();
    assert_eq!(ended.state, ChildState::Terminated);
    ask(&runtime, "create four").await;
    assert!(!last_result(&host).await.is_error());
    // A second conversation has its own limit.
    let other = in_conversation("other");
    runtime
        .respond("chief", "create five", &other)
        .await
        .unwrap();
    assert_eq!(runtime.children(&other).await.unwrap().len(), 1);
    let foreign = runtime
        .terminate(rows[1].thread.conversation(), &other)
        .await;
    assert!(matches!(foreign, Err(RuntimeError::UnknownChild(_))));
}

// S4-44: if one instance is allowed and calls wait, a second creation continues the live instance.
#[tokio::test]
async fn only_instance_is_continued() {
    let (host, log) = (Host::new(), Log::default());
    let tool = Subagent::new("researcher").resumable(Resumable::new().most_instances(1));
    let runtime = runtime(&host, &log, tool);
    ask(&runtime, "create one").await;
    ask(&runtime, "create two").await;
    assert!(!last_result(&host).await.is_error());
    let row = only_child(&runtime, &context().build()).await;
    assert_eq!((row.session, row.name.as_deref()), (2, Some("one")));
}

// S4-53: a message to an unknown, foreign or terminated reference is an error that lists the live instances.
#[tokio::test]
async fn dead_and_unknown_references_are_refused() {
    let (host, log) = (Host::new(), Log::default());
    let runtime = runtime(&host, &log, waiting());
    ask(&runtime, "create one").await;
    let row = only_child(&runtime, &context().build()).await;
    let id = row.thread.conversation();
    let message = |id: &str| {
        let arguments = json!({"referenceId": id, "message": "Hello.", "attachments": []});
        format!("call subagent_message {arguments}")
    };
    ask(&runtime, &message("sub_0")).await;
    let unknown = last_result(&host).await;
    assert!(unknown.is_error() && unknown.text.contains("there is no sub-agent `sub_0`"));
    assert!(unknown.text.contains(id), "{}", unknown.text);
    // The conversation does not find a sub-agent of a different conversation.
    let other = in_conversation("other");
    runtime
        .respond("chief", "create two", &other)
        .await
        .unwrap();
    let foreign = runtime.children(&other).await.unwrap().remove(0);
    ask(&runtime, &message(foreign.thread.conversation())).await;
    assert!(
        last_result(&host)
            .await
            .text
            .contains("there is no sub-agent")
    );

    runtime.terminate(id, &context().build()).await.unwrap();
    ask(&runtime, "create three").await;
    ask(&runtime, &message(id)).await;
    let dead = last_result(&host).await;
    assert!(
        dead.is_error() && dead.text.contains("reads no more messages"),
        "{}",
        dead.text
    );
    let stored = host
        .turns()
        .messages(&in_conversation(id), None)
        .await
        .unwrap();
    assert!(
        !stored
            .iter()
            .any(|message| message.content.contains("Hello."))
    );
}

// S4-54: a call of the sub-agent by its own name returns a hint and starts no sub-agent.
#[tokio::test]
async fn call_by_name_returns_a_hint() {
    let (host, log) = (Host::new(), Log::default());
    let runtime = runtime(&host, &log, waiting());
    ask(&runtime, r#"call researcher {"message":"Go."}"#).await;
    let hint = last_result(&host).await;
    assert!(hint.is_error());
    assert!(
        hint.text.contains("start the agent with `subagent_create`")
            && hint.text.contains("`subagent_message`"),
        "{}",
        hint.text
    );
    assert!(
        runtime
            .children(&context().build())
            .await
            .unwrap()
            .is_empty()
    );
    assert!(!log.of("chief")[0].tools.contains(&"researcher".to_owned()));
}

// S4-49: a message to a running sub-agent is queued and read between its steps, and the sender's result says
// so.
#[tokio::test]
async fn message_to_a_running_sub_agent_is_queued() {
    let (host, log) = (Host::new(), Log::default());
    let gate = std::sync::Arc::new(tokio::sync::Semaphore::new(0));
    let schema = json!({"type": "object", "properties": {}, "additionalProperties": false});
    let waits = gate.clone();
    let slow = DynamicTool::new("slow", "Waits.", schema, move |_: Value, _| {
        let waits = waits.clone();
        async move {
            waits.acquire().await.unwrap().forget();
            Ok::<_, ToolError>("waited")
        }
    });
    let slow = Registry::builder()
        .dynamic(slow.read_only())
        .build()
        .unwrap()
        .open();
    let researcher = thinking("researcher", &log, |request| {
        let calls_made = request
            .messages
            .iter()
            .any(|message| message.role == Role::Tool);
        Ok(if calls_made {
            text(&format!("heard {}", request.texts(Role::User).join(", ")))
        } else {
            calls([("slow", json!({}))])
        })
    });
    let tool = Subagent::new("researcher")
        .blocking(false)
        .resumable(Resumable::new());
    let runtime = host
        .runtime()
        .agent(entry(chief(&log)).subagent(tool))
        .agent(worker(researcher.tools(move |_| slow.clone())))
        .build()
        .unwrap();
    let cx = context().build();
    runtime.respond("chief", "create one", &cx).await.unwrap();
    while log.of("researcher").is_empty() {
        tokio::task::yield_now().await;
    }
    runtime
        .respond("chief", "send Also the sea.", &cx)
        .await
        .unwrap();
    let queued = last_result(&host).await;
    assert!(
        queued.text.starts_with("The sub-agent is running."),
        "{}",
        queued.text
    );
    gate.add_permits(1);
    runtime.idle().await;
    let row = only_child(&runtime, &cx).await;
    assert_eq!((row.session, row.delivered), (1, 1));
    assert_eq!(
        log.of("researcher").pop().unwrap().texts(Role::User),
        ["Begin.", "Also the sea."]
    );
    // An idle sub-agent begins a session.
    runtime
        .respond("chief", "send And the lakes.", &cx)
        .await
        .unwrap();
    assert!(
        last_result(&host)
            .await
            .text
            .starts_with("The agent has started.")
    );
    runtime.idle().await;
    assert_eq!(only_child(&runtime, &cx).await.session, 2);
}

// S4-43: a message for side A is stored as a message of the user, and a message for side B as a message of the agent, which the partner answers.
#[tokio::test]
async fn message_is_stored_with_the_role_of_its_side() {
    for side in [Side::A, Side::B] {
        let (host, log) = (Host::new(), Log::default());
        let tool = Subagent::new("researcher").resumable(Resumable::new().receives_messages(side));
        let partner = thinking("partner", &log, |request| {
            Ok(text(&format!("partner heard {}", request.last(Role::User))))
        });
        let session = Session::new()
            .partner(partner.build().unwrap())
            .most_turns(1);
        let runtime = host
            .runtime()
            .agent(entry(chief(&log)).subagent(tool))
            .agent(worker(echo(&log)).session(session))
            .build()
            .unwrap();
        ask(&runtime, "create one").await;
        let row = only_child(&runtime, &context().build()).await;
        let thread = in_conversation(row.thread.conversation());
        let messages = host.turns().messages(&thread, None).await.unwrap();
        let first = &messages[0];
        assert!(first.content.contains("Begin."), "{}", first.content);
        if side == Side::B {
            assert_eq!(first.role, Role::Assistant);
            assert_eq!(log.of("partner")[0].texts(Role::User), ["Begin."]);
            assert_eq!(
                log.of("researcher")[0].last(Role::User),
                "partner heard Begin."
            );
        } else {
            assert_eq!(first.role, Role::User);
            assert!(log.of("partner").is_empty());
        }
    }
}

/// Ends the session.
#[tool(read_only)]
fn finish(
    /// The result.
    result: String,
) -> String {
    format!("result {result}")
}

/// Ends the session as failed.
#[tool(read_only)]
fn give_up() -> &'static str {
    "no sources"
}

// S4-47: a session ends by its stop tool, its fail tool or the limit on turns. The thread remains, and a message begins the next session.
#[tokio::test]
async fn sessions_end_and_threads_stay() {
    for (end, status, state) in [
        ("finish", "success", ChildState::Idle),
        ("give_up", "error", ChildState::Failed),
        ("turns", "success", ChildState::Idle),
    ] {
        let (host, log) = (Host::new(), Log::default());
        let researcher = thinking("researcher", &log, move |request| {
            let turns = request.texts(Role::User).len();
            Ok(match (end, turns) {
                ("finish", 2) => calls([("finish", json!({"result": "1,308 m"}))]),
                ("give_up", 2) => calls([("give_up", json!({}))]),
                _ => text("Which fjord?"),
            })
        });
        let partner = agent("partner", &log, [text("All of them.")])
            .build()
            .unwrap();
        let session = Session::new()
            .partner(partner)
            .stop_tool("finish")
            .fail_tool("give_up")
            .most_turns(3);
        let runtime = host
            .runtime()
            .agent(entry(chief(&log)).subagent(waiting()))
            .agent(worker(researcher.tools(|_| toolset![finish, give_up])).session(session))
            .build()
            .unwrap();
        ask(&runtime, "create one").await;
        let result = payload(&last_result(&host).await);
        assert_eq!(serde_json::to_value(result.status).unwrap(), status);
        let text = result.result.or(result.error).unwrap();
        match end {
            "finish" => assert_eq!(text, "result 1,308 m"),
            "give_up" => assert_eq!(text, "no sources"),
            _ => assert_eq!(
                (text.as_str(), log.of("researcher").len()),
                ("Which fjord?", 3)
            ),
        }
        let row = only_child(&runtime, &context().build()).await;
        assert_eq!((row.state, row.session), (state, 1));
        ask(&runtime, "send Again.").await;
        assert_eq!(only_child(&runtime, &context().build()).await.session, 2);
    }
}

// S4-46: with explicit communication, the end of a session delivers nothing, and each notification is one message.
#[tokio::test]
async fn explicit_communication_delivers_notifications_only() {
    /// Sends a message to the parent.
    #[tool]
    async fn notify(
        #[context] parent: ParentThread,
        /// The text.
        text: String,
    ) -> Result<&'static str, ToolError> {
        parent.notify(&text).await?;
        Ok("sent")
    }

    let (host, log) = (Host::new(), Log::default());
    let researcher = agent(
        "researcher",
        &log,
        [
            calls([("notify", json!({"text": "Half done."}))]),
            calls([("notify", json!({"text": "  "}))]),
            text("The end."),
        ],
    );
    let resumable = Resumable::new().parent_communication(ParentCommunication::Explicit);
    let tool = Subagent::new("researcher")
        .blocking(false)
        .resumable(resumable);
    let runtime = host
        .runtime()
        .agent(entry(chief(&log)).subagent(tool))
        .agent(worker(researcher.tools(|_| toolset![notify])))
        .build()
        .unwrap();
    ask(&runtime, "create one").await;
    let cx = context().build();
    let inbox = || async {
        let messages = host.turns().messages(&cx, None).await.unwrap();
        let users = messages
            .into_iter()
            .filter(|message| message.role == Role::User);
        users.map(|message| message.content).collect::<Vec<_>>()
    };
    let messages = inbox().await;
    assert_eq!(messages.len(), 2, "{messages:?}");
    assert!(messages[1].contains("Half done."));
    assert!(!messages.iter().any(|message| message.contains("The end.")));
    let row = only_child(&runtime, &cx).await;
    assert_eq!((row.state, row.delivered), (ChildState::Idle, 1));
    let child = in_conversation(row.thread.conversation());
    let refused = results(&host, &child).await.pop().unwrap();
    assert!(
        refused.is_error() && refused.text.contains("is empty"),
        "{}",
        refused.text
    );
}

// The failure of one sub-agent cancels no other one, and each outcome is delivered.
#[tokio::test]
async fn failed_sub_agent_cancels_no_sibling() {
    let (host, log) = (Host::new(), Log::default());
    let chief = thinking("chief", &log, |request| {
        let first = request.texts(Role::User).len() == 1 && request.step() == 0;
        Ok(if first {
            let call = |agent: &str| {
                (
                    "subagent_create",
                    json!({"agent": agent, "name": agent, "message": "Go.", "attachments": []}),
                )
            };
            calls([call("broken"), call("researcher")])
        } else {
            text("Noted.")
        })
    });
    let broken = thinking("broken", &log, |_| {
        Err(ToolError::new("no network").operator("host-17 is down"))
    });
    let tool = |name: &str| {
        Subagent::new(name)
            .blocking(false)
            .resumable(Resumable::new())
    };
    let runtime = host
        .runtime()
        .agent(
            entry(chief)
                .subagent(tool("broken"))
                .subagent(tool("researcher")),
        )
        .agent(worker(broken))
        .agent(worker(echo(&log)))
        .build()
        .unwrap();
    ask(&runtime, "Go.").await;
    let cx = context().build();
    let mut states: Vec<_> = runtime
        .children(&cx)
        .await
        .unwrap()
        .into_iter()
        .map(|row| (row.agent, row.state, row.delivered))
        .collect();
    states.sort_by(|a, b| a.0.cmp(&b.0));
    assert_eq!(
        states,
        [
            ("broken".to_owned(), ChildState::Failed, 1),
            ("researcher".to_owned(), ChildState::Idle, 1)
        ]
    );
    let messages = host.turns().messages(&cx, None).await.unwrap();
    let reports = messages
        .iter()
        .filter(|message| message.content.contains("subagent_result"));
    assert_eq!(reports.count(), 2);
    assert!(
        messages
            .iter()
            .any(|message| message.content.contains("no network"))
    );
    // The parent does not read the text for operators.
    for message in &messages {
        assert!(!message.content.contains("host-17"), "{}", message.content);
    }
}
