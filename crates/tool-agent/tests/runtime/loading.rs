//! Errors of a configuration that are reported when the runtime is built.

use serde::Deserialize;
use serde_json::json;
use tool_agent::runtime::{
    AgentEntry, AgentResult, AgentRuntimeBuilder, Handoff, Immediate, PromptTool, Resumable,
    RuntimeConfigError, Session, Side, SpawnGate, Subagent, ToolKind,
};
use tool_core::VariableNeed;
use tool_core::prelude::*;
use tool_core::turn::Outcome;

use crate::support::{Host, Log, agent, calls, context, results, text};

fn entry(name: &str) -> AgentEntry {
    AgentEntry::new(
        agent(name, &Log::default(), [text("Done.")])
            .build()
            .unwrap(),
    )
}

fn worker(name: &str) -> AgentEntry {
    entry(name).autonomous().expose("Works.")
}

fn fault(builder: AgentRuntimeBuilder) -> String {
    builder.build().unwrap_err().to_string()
}

/// The arguments of the tests.
#[derive(Deserialize, StrictSchema)]
#[expect(dead_code, reason = "only the schema is used")]
struct Topic {
    /// The topic.
    topic: String,
    /// The files.
    files: Vec<String>,
}

// S4-21: `build` refuses the name of an unknown agent, and the error lists the names of all agents.
#[test]
fn unknown_names_are_refused() {
    let chief = |tool: fn(AgentEntry) -> AgentEntry| {
        Host::new()
            .runtime()
            .agent(tool(entry("chief")))
            .agent(worker("researcher"))
    };
    for text in [
        fault(chief(|chief| chief.prompt(PromptTool::new("reseacher")))),
        fault(chief(|chief| chief.subagent(Subagent::new("reseacher")))),
        fault(chief(|chief| chief.handoff(Handoff::to("reseacher")))),
    ] {
        assert_eq!(
            text,
            "the agent `chief` calls `reseacher`, which is not in the runtime: add it, or correct the name; the agents are `chief`, `researcher`"
        );
    }
}

// S4-02, S4-03: an agent that is not exposed cannot be a tool, and an exposed agent needs a description.
#[test]
fn agents_are_exposed_with_a_description() {
    let runtime = Host::new()
        .runtime()
        .agent(entry("chief").prompt(PromptTool::new("summary")))
        .agent(entry("summary"));
    assert!(matches!(
        runtime.build(),
        Err(RuntimeConfigError::NotExposed { target, .. }) if target == "summary"
    ));
    let runtime = Host::new().runtime().agent(entry("chief").expose("  "));
    assert!(matches!(
        runtime.build(),
        Err(RuntimeConfigError::NoDescription(name)) if name == "chief"
    ));
}

// S4-29, S4-04: a sub-agent must be autonomous, and a handoff passes a conversation to a conversational agent.
#[test]
fn agents_of_the_wrong_kind_are_refused() {
    let text = fault(
        Host::new()
            .runtime()
            .agent(entry("chief").subagent(Subagent::new("clerk")))
            .agent(entry("clerk").expose("Talks.")),
    );
    assert_eq!(
        text,
        "the agent `chief` uses `clerk` as an autonomous agent, but it is conversational: call `autonomous` on its entry, or use `handoff`"
    );
    let text = fault(
        Host::new()
            .runtime()
            .agent(entry("chief").handoff(Handoff::to("worker")))
            .agent(worker("worker")),
    );
    assert!(text.contains("but it is autonomous"), "{text}");
    let text = fault(
        Host::new()
            .runtime()
            .agent(worker("worker").handoff(Handoff::to("chief")))
            .agent(entry("chief")),
    );
    assert!(text.contains("cannot pass a conversation on"), "{text}");
}

// S4-26, S4-27: a property that the arguments do not have is refused when the runtime is built.
#[test]
fn unknown_properties_are_refused() {
    let target = || worker("researcher").arguments::<Topic>();
    let build = |tool: PromptTool| {
        let files = std::sync::Arc::new(object_store::memory::InMemory::new());
        Host::new()
            .runtime()
            .files(files)
            .agent(entry("chief").prompt(tool))
            .agent(target())
            .build()
    };
    for tool in [
        PromptTool::new("researcher").init_user_message("subject"),
        PromptTool::new("researcher").init_attachments("subject"),
    ] {
        let text = build(tool).unwrap_err().to_string();
        assert!(
            text.ends_with("has no such property: the properties are `files`, `topic`"),
            "{text}"
        );
    }
    let tool = PromptTool::new("researcher");
    assert!(build(tool.init_user_message("topic").init_attachments("files")).is_ok());
}

// Settings that have no effect, let a session never end, or need a part that the runtime lacks are refused, and the error names the method to call.
#[test]
#[expect(clippy::too_many_lines, reason = "one table of settings")]
fn ineffective_or_incomplete_settings_are_refused() {
    let runtime = || Host::new().runtime();
    let partner = || {
        agent("partner", &Log::default(), [text("Go on.")])
            .build()
            .unwrap()
    };
    for (builder, part) in [
        (
            runtime().agent(entry("a")).agent(entry("a")),
            "two agents are named `a`",
        ),
        (
            runtime().agent(entry("a").spawn(SpawnGate::default().most_depth(4))),
            "set `most_depth` to at most 3",
        ),
        (
            runtime().agent(worker("a").session(Session::new().partner(partner()))),
            "set `stop_tool` or `most_turns`",
        ),
        (
            runtime()
                .agent(
                    entry("a")
                        .subagent(Subagent::new("b"))
                        .spawn(SpawnGate::default().targets(["c"])),
                )
                .agent(worker("b")),
            "names `c`, which is not one of its sub-agents",
        ),
        (
            runtime()
                .agent(
                    entry("a")
                        .subagent(Subagent::new("b"))
                        .spawn(SpawnGate::default().most_depth(0)),
                )
                .agent(worker("b")),
            "its `most_depth` is 0: set it to at least 1",
        ),
        (runtime(), "the runtime has no agents"),
        (
            runtime().agent(worker("a").session(Session::new().most_turns(0))),
            "set `most_turns` to at least 1",
        ),
        (
            runtime().agent(entry("a").session(Session::new().stop_tool("done"))),
            "only autonomous agents run in sessions",
        ),
        (
            runtime().agent(worker("a").session(Session::new().stop_tool("end").fail_tool("end"))),
            "use two tools",
        ),
        (
            runtime().agent(entry("a").handoff(Handoff::to("a"))),
            "passes the conversation to itself",
        ),
        (
            runtime()
                .agent(
                    entry("a")
                        .subagent(Subagent::new("b").resumable(Resumable::new().most_instances(0))),
                )
                .agent(worker("b")),
            "set `most_instances` to at least 1",
        ),
        (
            runtime()
                .agent(entry("a").subagent(
                    Subagent::new("b").resumable(Resumable::new().receives_messages(Side::B)),
                ))
                .agent(worker("b")),
            "set `Session::partner`",
        ),
        (
            runtime()
                .agent(entry("a").subagent(Subagent::new("b").immediate(Immediate::once("Go."))))
                .agent(worker("b")),
            "set `blocking(false)`",
        ),
        (
            runtime()
                .agent(
                    entry("a")
                        .prompt(PromptTool::new("b"))
                        .subagent(Subagent::new("b")),
                )
                .agent(worker("b")),
            "two tools named `b`",
        ),
        (
            runtime().agent(entry("a").variable(VariableNeed {
                scoped: true,
                ..VariableNeed::new("KEY")
            })),
            "call `vault` on the builder",
        ),
        (
            runtime()
                .agent(entry("a").prompt(PromptTool::new("b").init_attachments("files")))
                .agent(worker("b").arguments::<Topic>()),
            "call `files` on the builder",
        ),
    ] {
        let text = fault(builder);
        assert!(text.contains(part), "{text}");
    }
    let text = fault(
        tool_agent::runtime::AgentRuntime::builder(Host::new().turns(), &Host::new().gate)
            .agent(entry("a").prompt(PromptTool::new("b")))
            .agent(worker("b")),
    );
    assert!(text.contains("call `children` on the builder"), "{text}");
}

/// Adds two numbers.
#[tool(read_only)]
fn add(
    /// The first number.
    a: i32,
    /// The second number.
    b: i32,
) -> i32 {
    a + b
}

// S4-01: a function tool of an agent is called like every other tool, and its kind is reported.
#[tokio::test]
async fn function_tools_are_called_through_the_gate() {
    let (host, log) = (Host::new(), Log::default());
    let chief = agent(
        "chief",
        &log,
        [
            calls([("add", serde_json::json!({"a": 1, "b": 2}))]),
            text("3"),
        ],
    );
    let chief = AgentEntry::new(chief.tools(|_| toolset![add]).build().unwrap())
        .prompt(PromptTool::new("summary"))
        .subagent(Subagent::new("researcher"))
        .handoff(Handoff::to("clerk"));
    let runtime = host
        .runtime()
        .agent(chief)
        .agent(entry("summary").expose("Summarizes."))
        .agent(worker("researcher"))
        .agent(entry("clerk"))
        .build()
        .unwrap();
    let cx = context().build();
    let kinds = runtime.tools("chief", &cx).unwrap();
    let kinds: Vec<_> = kinds.iter().map(|(name, kind)| (&**name, *kind)).collect();
    assert_eq!(
        kinds,
        [
            ("add", ToolKind::Function),
            ("researcher", ToolKind::Subagent),
            ("summary", ToolKind::Prompt),
            ("transfer_to_clerk", ToolKind::Handoff),
        ]
    );
    let outcome = runtime.respond("chief", "1 + 2?", &cx).await.unwrap();
    assert!(matches!(outcome, Outcome::Answered(text) if text == "3"));
    assert_eq!(results(&host, &cx).await[0].text, "3");
}

// S4-48: a tool of an agent with the name of a tool of the runtime is refused before a message is stored.
#[tokio::test]
async fn tool_with_the_name_of_a_runtime_tool_is_refused() {
    /// Creates something.
    #[tool(read_only)]
    fn subagent_create() -> i32 {
        1
    }

    let (host, log) = (Host::new(), Log::default());
    let chief = agent("chief", &log, [text("Done.")]).tools(|_| toolset![subagent_create]);
    let chief = AgentEntry::new(chief.build().unwrap())
        .subagent(Subagent::new("researcher").resumable(Resumable::new()));
    let runtime = host.runtime().agent(chief).agent(worker("researcher"));
    let runtime = runtime.build().unwrap();
    let cx = context().build();
    let error = runtime.respond("chief", "Hello.", &cx).await.unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("the agent `chief` has a tool named `subagent_create`"),
        "{error}"
    );
    assert!(host.turns().messages(&cx, None).await.unwrap().is_empty());
    assert!(log.all().is_empty());

    let error = runtime.respond("nobody", "Hello.", &cx).await.unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("the runtime has no agent `nobody`: the agents are "),
        "{error}"
    );
}

// S4-08: a result round-trips through JSON, its parts are joined, a value that is not a string becomes JSON, and the text of an error begins with its
// status.
#[test]
fn result_has_a_fixed_shape() {
    let parts = [
        tool_core::Part::text("Two rows."),
        tool_core::Part::base64("image/png", "iVBORw0KGgo="),
    ];
    let joined = AgentResult::success_parts(parts);
    assert_eq!(joined.result.as_deref(), Some("Two rows.\n[image/png]"));
    let value = AgentResult::success_value(&json!({"rows": [1, 2]}));
    assert_eq!(value.result.as_deref(), Some(r#"{"rows":[1,2]}"#));
    assert_eq!(
        AgentResult::success_value(&json!("two")).result.as_deref(),
        Some("two")
    );
    assert_eq!(
        AgentResult::success("").model_text(),
        "The agent finished without a text."
    );

    let full = json!({
        "status": "error",
        "error": "no network",
        "error_code": "offline",
        "error_data": {"host": "a"},
        "stack": "at line 1",
        "attachments": ["/attachments/a-1.txt", {"name": "b.txt", "media_type": "text/plain", "data": "Yg=="}],
        "subagent_id": "sub_1",
    });
    let result: AgentResult = serde_json::from_value(full.clone()).unwrap();
    assert_eq!(serde_json::to_value(&result).unwrap(), full);
    let shown = result.model_text();
    assert!(
        shown.starts_with("failed (status: error): no network\ncode: offline"),
        "{shown}"
    );
    assert!(
        shown.contains("attachment: /attachments/a-1.txt") && shown.contains("subagent_id: sub_1")
    );
    // The model does not read the stack trace.
    assert!(!shown.contains("at line 1"));
    assert_eq!(
        serde_json::to_value(AgentResult::success("ok")).unwrap(),
        json!({"status": "success", "result": "ok"})
    );
}
