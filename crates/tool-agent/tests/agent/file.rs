//! Agent files: the example in the documentation, the places of faults, and instructions with variables.

use std::sync::{Arc, Mutex};

use object_store::memory::InMemory;
use serde_json::Value;
use tool_agent::agent_file::{AgentFile, AgentFileError};
use tool_agent::model::{Script, ScriptedModel};
use tool_agent::runtime::{AgentKind, AgentRuntime, RuntimeConfigError};
use tool_core::Gate;
use tool_core::prelude::*;
use tool_core::store::seal::{SealKey, SealKeys, Vault};
use tool_core::store::{MemoryStore, SkillVersion};
use tool_core::turn::{ModelMessage, ModelRequest, TurnError, Turns};

use crate::{Seen, context, recorded, turns};

/// Returns the example in the documentation of the module.
fn example() -> String {
    let source = include_str!("../../src/agent_file.rs");
    let (_, rest) = source.split_once("//! ```yaml\n").unwrap();
    let (example, _) = rest.split_once("//! ```\n").unwrap();
    let lines = example.lines().map(|line| {
        let line = line.strip_prefix("//!").unwrap();
        line.strip_prefix(' ').unwrap_or(line)
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn refunds() -> SkillVersion {
    let mut skill = SkillVersion::new("refunds", "1.0.0");
    skill.description.push_str("Refunds an order.");
    skill
}

fn load(text: &str) -> AgentFile {
    AgentFile::from_yaml(text).unwrap()
}

/// Returns a model that records the instructions of its request.
fn instructed(seen: &Seen) -> ScriptedModel {
    recorded([Script::text("Hi.")], seen)
}

// The complete example is loaded, and the agent and the runtime have all of its settings.
#[tokio::test]
async fn example_of_the_documentation_is_loaded() {
    let text = example();
    let file = load(&text);
    assert_eq!(
        (file.name(), file.kind()),
        ("support", AgentKind::Conversational)
    );
    let model = file.model();
    assert_eq!(model.name, "claude-sonnet-4-5");
    assert_eq!(model.max_tokens.map(u32::from), Some(4000));
    assert_eq!(model.temperature, Some(0.2));

    let seen = Seen::default();
    let tools: Arc<Mutex<Vec<String>>> = Arc::default();
    let log = Arc::clone(&tools);
    let script = Script::with(move |request: &ModelRequest<'_>| {
        let names = request.tools.names().map(str::to_owned);
        *log.lock().unwrap() = names.collect();
        Ok(ModelMessage::text("Hi."))
    });
    let builder = file
        .builder(recorded([script], &seen), &[refunds()])
        .unwrap();
    let agent = builder.build().unwrap();
    let shown = format!("{agent:?}");
    for limit in [
        "steps: Some(10)",
        "tokens: Some(100000)",
        "cost: Some(250000)",
    ] {
        assert!(shown.contains(limit), "{shown}");
    }
    let other = |text: &str| {
        let file = AgentFile::from_toml(text).unwrap();
        let builder = file.builder(ScriptedModel::new([]), &[]).unwrap();
        file.entry(builder.build().unwrap())
    };
    let called = |name: &str, kind: &str| {
        let properties = r#"{"type":"object","properties":{"text":{"type":"string"},"question":{"type":"string"},"topic":{"type":"string"},"files":{"type":"array","items":{"type":"string"}}},"required":["text","question","topic","files"],"additionalProperties":false}"#;
        other(&format!(
            "name = '{name}'\ndescription = 'Works.'\nkind = '{kind}'\n[model]\nname = 'm'"
        ))
        .arguments_schema(properties)
    };
    let store = MemoryStore::default();
    let keys = SealKeys::new("k1", SealKey::new(&[1; 32])).unwrap();
    let vault = Vault::open(store.clone(), keys).await.unwrap();
    let runtime = AgentRuntime::builder(turns(), &Gate::builder().build())
        .children(store.clone())
        .vault(&vault)
        .files(Arc::new(InMemory::new()))
        .agent(file.entry(agent))
        .agent(called("summarize", "conversational"))
        .agent(called("billing", "conversational"))
        .agent(called("researcher", "autonomous"))
        .agent(called("watcher", "autonomous"))
        .agent(called("seller", "autonomous"))
        .build()
        .unwrap();
    let declared = runtime.variables("support").unwrap();
    assert_eq!(declared.iter().count(), 1);
    let cx = context()
        .variable("COMPANY", "Acme")
        .variable("SUMMARIES", "true")
        .variable("RESEARCH", "no")
        .variable("BILLING", "yes")
        .build();
    runtime.respond("support", "Hello.", &cx).await.unwrap();
    let instructions: String = serde_json::from_str(&seen.lock().unwrap()[0][0].1).unwrap();
    assert_eq!(
        instructions,
        "You work for Acme.\n\n\n# Skills\n\n- refunds: Refunds an order.\n"
    );
    // The variables switch the tools on and off.
    let mut names = tools.lock().unwrap().clone();
    names.sort();
    assert_eq!(names, ["summarize", "transfer_to_billing"]);
}

/// Builds a runtime of an agent in YAML and of its sub-agent.
fn with_subagent(yaml: &str) -> Result<AgentRuntime, RuntimeConfigError> {
    let file = load(&format!("name: chief\nmodel: {{name: m}}\n{yaml}"));
    let agent = file.builder(ScriptedModel::new([Script::text("Hi.")]), &[]);
    let helper = load("name: helper\nkind: autonomous\ndescription: Helps.\nmodel: {name: m}\n");
    let child = helper.builder(ScriptedModel::new([Script::text("Done.")]), &[]);
    let store = MemoryStore::default();
    AgentRuntime::builder(Turns::new(store.clone()), &Gate::builder().build())
        .children(store)
        .agent(file.entry(agent.unwrap().build().unwrap()))
        .agent(helper.entry(child.unwrap().build().unwrap()))
        .build()
}

// The keys of sub-agents and of the spawn gate are passed to the runtime, which checks them.
#[tokio::test]
async fn keys_of_sub_agents_are_applied() {
    let subagent = "subagents:\n  - agent: helper\n    blocking: false\n";
    for (keys, expected) in [
        (
            "    immediate: {message: Go.}\nspawn: {enabled: false}\n",
            "its spawn gate refuses",
        ),
        (
            "    immediate: {message: Go.}\nspawn: {targets: []}\n",
            "its spawn gate refuses",
        ),
        ("spawn: {targets: [other]}\n", "names `other`"),
        ("spawn: {depth: 4}\n", "up to the depth 4"),
        ("    immediate: {per_instance: true}\n", "names no variable"),
        (
            "    immediate: {per_instance: true, scoped_env: [TOKEN]}\n",
            "`vault`",
        ),
        (
            "    resumable: {receives_messages: b}\n",
            "side B of a sub-agent without a partner",
        ),
        (
            "    init_agent_name: x\n    resumable: {}\n",
            "has no such property",
        ),
    ] {
        let error = with_subagent(&format!("{subagent}{keys}"))
            .unwrap_err()
            .to_string();
        assert!(error.contains(expected), "{keys}{error}");
    }
    let offered = |keys: &str| {
        let runtime = with_subagent(&format!("{subagent}{keys}")).unwrap();
        let tools = runtime.tools("chief", &context().build()).unwrap();
        tools.into_iter().map(|(name, _)| name).collect::<Vec<_>>()
    };
    assert_eq!(offered(""), ["helper"]);
    let resumable = "    resumable: {most_instances: 2, parent_communication: explicit}\n";
    assert!(offered(resumable).contains(&"subagent_create".to_owned()));

    // An immediate sub-agent starts before the first request.
    let runtime = with_subagent(&format!("{subagent}    immediate: {{message: Go.}}\n")).unwrap();
    let cx = context().build();
    runtime.respond("chief", "Hello.", &cx).await.unwrap();
    runtime.idle().await;
    let children = runtime.children(&cx).await.unwrap();
    assert_eq!((children.len(), &*children[0].agent), (1, "helper"));
}

/// Submits the result.
#[tool]
fn submit() -> &'static str {
    "submitted"
}

// A session of a sub-agent ends with the tool that its file names, without another request.
#[tokio::test]
async fn session_of_a_file_ends_with_its_tool() {
    let chief = load("name: chief\nmodel: {name: m}\nsubagents: [{agent: helper}]\n");
    let calls = [ToolCall::new("c-1", "helper", r#"{"message":"Go."}"#)];
    let model = ScriptedModel::new([Script::calls(calls), Script::text("Hi.")]);
    let agent = chief.builder(model, &[]).unwrap().build().unwrap();
    let helper = load(
        "name: helper\nkind: autonomous\ndescription: Helps.\nmodel: {name: m}\nsession: {stop_tool: submit, fail_tool: give_up}\n",
    );
    let model = ScriptedModel::new([
        Script::calls([ToolCall::new("c-1", "submit", "{}")]),
        Script::with(|_| panic!("the session has ended")),
    ]);
    let child = helper
        .builder(model, &[])
        .unwrap()
        .tools(|_| toolset![submit]);
    let store = MemoryStore::default();
    let turns = Turns::new(store.clone());
    let runtime = AgentRuntime::builder(turns.clone(), &Gate::builder().build())
        .children(store)
        .agent(chief.entry(agent))
        .agent(helper.entry(child.build().unwrap()))
        .build()
        .unwrap();
    let cx = context().build();
    runtime.respond("chief", "Hello.", &cx).await.unwrap();
    let messages = turns.messages(&cx, None).await.unwrap();
    assert!(
        messages
            .iter()
            .any(|message| message.content.contains("submitted"))
    );
}

// The same agent in TOML.
#[test]
fn toml_is_loaded() {
    let file = AgentFile::from_toml(
        "name = 'a'\nkind = 'autonomous'\n[model]\nname = 'm'\n[limits]\nsteps = 3\n[[prompts]]\nagent = 'b'\n",
    );
    assert_eq!(file.unwrap().kind(), AgentKind::Autonomous);
}

/// A text, the place of its fault, and a part of the error.
type Case = (&'static str, (usize, usize), &'static str);

fn faults(cases: &[Case], read: fn(&str) -> Result<AgentFile, AgentFileError>) {
    let mut wrong = Vec::new();
    for (text, place, expected) in cases {
        let error = read(text).unwrap_err();
        let found = (error.line().unwrap(), error.column().unwrap());
        if found != *place || !error.to_string().contains(expected) {
            wrong.push(format!("{text}{error}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

// Errors contain the line and the column. The error for an unknown key names the most similar key, or all keys if none is similar.
#[test]
fn faults_of_yaml_have_their_place() {
    let cases = [
        (
            "name: a\nmodle:\n  name: m\n",
            (2, 1),
            "there is no key `modle`, did you mean `model`?",
        ),
        (
            "name: a\nmodel:\n  name: m\n  max_token: 3\n",
            (4, 3),
            "did you mean `max_tokens`?",
        ),
        (
            "name: a\nmodel:\n  name: m\nzzzzzzzz: 1\n",
            (4, 1),
            "the keys are `name`",
        ),
        (
            "name: a\nmodel:\n  name: m\nlimits:\n  steps: 0\n",
            (5, 3),
            "nonzero",
        ),
        (
            "name: a\nmodel:\n  name: m\noutput:\n  mode: natve\n",
            (5, 9),
            "there is no value `natve`, did you mean `native`?",
        ),
        (
            "name: ' '\nmodel:\n  name: m\n",
            (1, 7),
            "the text is empty",
        ),
        (
            "name: a\nmodel:\n  name: m\ninstructions: |\n  You are at\n  {{COMPANY}}.\n",
            (6, 3),
            "`COMPANY` is not declared: add it",
        ),
        (
            "name: a\nmodel:\n  name: m\ninstructions: 'At {{ COMPANI }}'\nvariables: [{name: COMPANY}]\n",
            (4, 19),
            "did you mean `COMPANY`?",
        ),
        (
            "name: a\nmodel:\n  name: m\ninstructions: '{{KEY}}'\nvariables: [{name: KEY, type: secret}]\n",
            (4, 16),
            "is a secret",
        ),
        ("name: a\nmodel:\n  name: [m\n", (3, 9), "expected string"),
        (
            "name: a\nmodel: {name: m}\nsubagents:\n  - agent: b\n    immediate: {}\n",
            (5, 16),
            "write `message`, or `per_instance: true`",
        ),
        (
            "name: a\nmodel: {name: m}\nsubagents:\n  - agent: b\n    immediate: {message: Go., per_instance: true}\n",
            (5, 16),
            "write `description_env`",
        ),
        (
            "name: a\nmodel: {name: m}\nsubagents:\n  - agent: b\n    immediate: {message: Go., name_env: X}\n",
            (5, 16),
            "variables belong to instances",
        ),
        (
            "name: a\nmodel: {name: m}\ninstructions: Reply immediately.\nsubagents:\n  - agent: c\n    immediate: {message: Go.}\n  - agent: b\n    immediate: {}\n",
            (8, 16),
            "write `message`, or `per_instance: true`",
        ),
        (
            "name: a\nmodel: {name: m}\nlimits:\n  time: 0\n",
            (4, 3),
            "nonzero",
        ),
        (
            "name: a\nmodel: {name: m}\nsubagents:\n  - agent: b\n    resumable: {receives_messages: c}\n",
            (5, 36),
            "there is no value `c`",
        ),
        (
            "name: a\nmodel: {name: m}\nspawn: {deepth: 2}\n",
            (3, 9),
            "did you mean `depth`?",
        ),
    ];
    faults(&cases, AgentFile::from_yaml);
}

#[test]
fn faults_of_toml_have_their_place() {
    let cases = [
        (
            "name = 'a'\n[modle]\nname = 'm'\n",
            (2, 2),
            "there is no key `modle`, did you mean `model`?",
        ),
        (
            "name = 'a'\n[model]\nname = 'm'\nmax_token = 3\n",
            (4, 1),
            "did you mean `max_tokens`?",
        ),
        (
            "name = 'a'\n[model]\nname = 'm'\n[limits]\nsteps = 0\n",
            (5, 9),
            "nonzero",
        ),
        (
            "name = 'ä'\nkind = 'auto'\n[model]\nname = 'm'\n",
            (2, 8),
            "there is no value `auto`",
        ),
        (
            "name = ''\n[model]\nname = 'm'\n",
            (1, 8),
            "the text is empty",
        ),
        (
            "name = 'a'\ninstructions = 'ä {{X}}'\n[model]\nname = 'm'\n",
            (2, 19),
            "`X` is not declared",
        ),
        ("name = 'a'\nname = 'b'\n", (2, 1), "duplicate"),
    ];
    faults(&cases, AgentFile::from_toml);
}

#[test]
fn error_of_an_unknown_skill_has_its_place() {
    let file = load("name: a\nmodel:\n  name: m\nskills:\n  - refund\n");
    let error = file
        .builder(ScriptedModel::new([]), &[refunds()])
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "line 5, column 5: there is no skill `refund`: did you mean `refunds`?"
    );
}

#[test]
fn error_of_a_file_names_its_path() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agent.yaml");
    std::fs::write(&path, "name: a\nmodle: 1\n").unwrap();
    let error = AgentFile::open(&path).unwrap_err().to_string();
    let expected = format!(
        "{}: line 2, column 1: there is no key `modle`",
        path.display()
    );
    assert!(error.starts_with(&expected), "{error}");
    let other = folder.path().join("agent.ini");
    std::fs::write(&other, "").unwrap();
    let error = AgentFile::open(&other).unwrap_err().to_string();
    assert!(error.contains("use `.yaml`, `.yml` or `.toml`"), "{error}");
    let error = AgentFile::open(folder.path().join("none.toml")).unwrap_err();
    assert!(error.to_string().contains("cannot be read"), "{error}");
}

// S4-12: a text variable is written into the instructions; placeholders in a value are not replaced.
#[tokio::test]
async fn variables_are_written_into_the_instructions() {
    let text = "name: a\nmodel: {name: m}\ninstructions: '{{ONE}}/{{ TWO }}/{{three}}/{ONE}/{{1}}'\nvariables: [{name: ONE}, {name: TWO, required: false}, {name: three}]\n";
    let (seen, turns) = (Seen::default(), turns());
    let agent = load(text).builder(instructed(&seen), &[]).unwrap();
    let agent = agent.build().unwrap();
    let cx = context()
        .variable("ONE", "{{three}}")
        .variable("three", "3");
    agent.respond("Hi.", &turns, &cx.build()).await.unwrap();
    let content: Value = serde_json::from_str(&seen.lock().unwrap()[0][0].1).unwrap();
    assert_eq!(content, "{{three}}//3/{ONE}/{{1}}");
    // If a variable is missing, or if the host has stored it as a secret, the run ends before a request.
    let cx = context().variable("ONE", "1").build();
    let error = agent.respond("Hi.", &turns, &cx).await.unwrap_err();
    let TurnError::Model(error) = error else {
        panic!("{error}");
    };
    assert_eq!(error.missing_variables()[0].name, "three");
    let secret = SecretString::from("s3cr3t-t0ken");
    let cx = context()
        .variable("three", "3")
        .secret_variable("ONE", secret)
        .build();
    let error = agent
        .respond("Hi.", &turns, &cx)
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("`ONE` is a secret") && !error.contains("s3cr3t"),
        "{error}"
    );
    assert_eq!(seen.lock().unwrap().len(), 1);
}
