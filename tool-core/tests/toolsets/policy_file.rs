//! Policies loaded from files, and reloading them while a host runs.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use serde_json::{Value, json};
use tool_core::policy::{PolicyFile, PolicyRequest, PolicyVerdict, SharedPolicy};
use tool_core::prelude::*;
use tool_core::{DynamicTool, Layer, Rules};

fn registry() -> Registry {
    let schema =
        json!({"type": "object", "properties": {}, "required": [], "additionalProperties": false});
    ["read_file", "shell", "web_fetch", "write_file"]
        .into_iter()
        .fold(Registry::builder(), |builder, name| {
            builder.dynamic(DynamicTool::new(
                name,
                "Does something.",
                &schema,
                |_: Value, _: ToolContext| async { Ok::<_, ToolError>(1) },
            ))
        })
        .build()
        .unwrap()
}

const JSON: &str = r#"{
    "default": "ask",
    "tools": {"deny": ["shell"]},
    "agents": [
        {"id": "reader", "tools": {"allow": ["read_file", "web_fetch"], "deny": ["web_fetch"]}},
        {"id": "writer"}
    ],
    "rules": [
        {"name": "reads", "verdict": "allow", "tools": ["read_*"], "effects": [], "dynamic": true},
        {
            "name": "big", "verdict": "deny", "tools": ["write_file"], "tenants": ["acme"],
            "when": [{"pointer": "/size", "greater": 10.5}, {"pointer": "/mode", "one_of": ["a", 1]}, {"pointer": "/to", "len": {"max": 3}}],
            "reason": "too big"
        }
    ]
}"#;

#[cfg(feature = "toml")]
const TOML: &str = r#"
default = "ask"

[tools]
deny = ["shell"]

[[agents]]
id = "reader"
tools = { allow = ["read_file", "web_fetch"], deny = ["web_fetch"] }

[[agents]]
id = "writer"

[[rules]]
name = "reads"
verdict = "allow"
tools = ["read_*"]
dynamic = true

[[rules]]
name = "big"
verdict = "deny"
tools = ["write_file"]
tenants = ["acme"]
when = [
    { pointer = "/size", greater = 10.5 },
    { pointer = "/mode", one_of = ["a", 1] },
    { pointer = "/to", len = { max = 3 } },
]
reason = "too big"
"#;

#[cfg(feature = "yaml")]
const YAML: &str = r#"
default: ask
tools:
  deny: [shell]
agents:
  - id: reader
    tools:
      allow: [read_file, web_fetch]
      deny:
        - web_fetch
  - id: writer
rules:
  - name: reads
    verdict: allow
    tools: ["read_*"]
    dynamic: true
  - name: big
    verdict: deny
    tools: [write_file]
    tenants: [acme]
    when:
      - {pointer: /size, greater: 10.5}
      - pointer: /mode
        one_of: [a, 1]
      - pointer: /to
        len: {max: 3}
    reason: too big
"#;

/// Returns the same policy in every format that is compiled in.
fn formats() -> Vec<(&'static str, PolicyFile)> {
    vec![
        ("JSON", PolicyFile::from_json(JSON).unwrap()),
        #[cfg(feature = "toml")]
        ("TOML", PolicyFile::from_toml(TOML).unwrap()),
        #[cfg(feature = "yaml")]
        ("YAML", PolicyFile::from_yaml(YAML).unwrap()),
    ]
}

// S0-20: the policy is the same in every format, with the lists of each agent, the global lists and the rules.
#[test]
fn every_policy_format_is_read_equally() {
    let registry = registry();
    let json = PolicyFile::from_json(JSON).unwrap();
    for (format, file) in formats() {
        assert_eq!(file, json, "{format}");
        let policy = file.build().unwrap();
        assert_eq!(
            policy.version(),
            json.build().unwrap().version(),
            "{format}"
        );
        let decide = |arguments| {
            let tool = registry.get("write_file").unwrap();
            policy
                .decide(&PolicyRequest {
                    tool,
                    tenant: "acme",
                    principal: "",
                    agent: None,
                    arguments,
                })
                .verdict
        };
        assert_eq!(
            decide(r#"{"size":11,"mode":1,"to":"abc"}"#),
            PolicyVerdict::Deny
        );
        assert_eq!(
            decide(r#"{"size":10,"mode":1,"to":"abc"}"#),
            PolicyVerdict::Ask
        );
        let shared = SharedPolicy::new(policy);
        let names = |agent: &str| {
            let cx = ToolContext::builder().agent(agent).build();
            let tools = registry.toolset(&cx, &Rules::default().policy(&shared));
            tools.names().map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(names("reader"), ["read_file"], "{format}");
        assert_eq!(
            names("writer"),
            ["read_file", "web_fetch", "write_file"],
            "{format}"
        );
    }
}

// S0-20: a YAML policy is read, and an unknown tool in it is reported with a similar name.
#[cfg(feature = "yaml")]
#[test]
fn unknown_tool_in_a_yaml_policy_is_reported_with_a_similar_name() {
    let file = PolicyFile::from_yaml(
        "agents:\n  - id: researcher\n    tools:\n      allow: [web_fetch, read_file]\n      deny: [shel]\n",
    )
    .unwrap();
    assert_eq!(file.agents[0].id, "researcher");
    let unknown: Vec<String> = file
        .unknown(&registry())
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        unknown,
        ["agent `researcher`, `deny`: there is no tool `shel`, did you mean `shell`?"]
    );
}

// S0-20: the policy in the guide for operators is valid, and its unknown names and unused rules are reported.
#[test]
fn policy_of_the_operators_guide_loads() {
    let guide = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/operator.md");
    let guide = std::fs::read_to_string(guide).unwrap();
    let block = guide.split("```json\n").nth(1).unwrap();
    let (text, _) = block.split_once("```").unwrap();
    let file = PolicyFile::from_json(text).unwrap();
    let none = Registry::builder().build().unwrap();
    assert_eq!(file.unknown(&none)[0].name, "shell");
    let policy = file.build().unwrap();
    assert_eq!(policy.report(&none).idle, ["keep-books", "mail-leaves"]);
}

// S0-20: unknown keys are errors at every depth, and each error names the format.
#[test]
fn unknown_keys_are_errors() {
    for (text, key) in [
        (r#"{"agent": []}"#, "agent"),
        (r#"{"agents": [{"id": "a", "tool": {}}]}"#, "tool"),
        (r#"{"tools": {"denied": []}}"#, "denied"),
        (
            r#"{"rules": [{"name": "a", "verdict": "deny", "tool": "x"}]}"#,
            "tool",
        ),
        (
            r#"{"rules": [{"name": "a", "verdict": "deny", "when": [{"pointer": "", "is": 1}]}]}"#,
            "is",
        ),
    ] {
        let error = PolicyFile::from_json(text).unwrap_err().to_string();
        assert!(
            error.starts_with("the policy cannot be read as JSON")
                && error.contains(&format!("unknown field `{key}`")),
            "{error}"
        );
        // JSON is also valid YAML.
        #[cfg(feature = "yaml")]
        {
            let error = PolicyFile::from_yaml(text).unwrap_err().to_string();
            assert!(
                error.starts_with("the policy cannot be read as YAML") && error.contains(key),
                "{error}"
            );
        }
    }
    #[cfg(feature = "toml")]
    {
        let error = PolicyFile::from_toml("tool = 1").unwrap_err().to_string();
        assert!(error.contains("unknown field `tool`"), "{error}");
    }
    assert!(PolicyFile::from_json(r#"{"rules": [{"name": "a", "verdict": "maybe"}]}"#).is_err());
    assert!(
        PolicyFile::from_json(
            r#"{"rules": [{"name": "a", "verdict": "deny", "effects": ["delete"]}]}"#
        )
        .is_err()
    );
}

// S0-20: all errors are reported together.
#[test]
fn invalid_policy_file_reports_all_errors() {
    let file = PolicyFile::from_json(
        r#"{"agents": [{"id": "a"}, {"id": "a"}, {"id": ""}], "rules": [{"name": "", "verdict": "deny"}]}"#,
    )
    .unwrap();
    let error = file.build().unwrap_err();
    assert_eq!(error.faults().len(), 3, "{error}");
}

// S0-20, M14: a file is reloaded while the host runs; an invalid file changes nothing.
#[test]
fn policy_reload_replaces_the_policy_or_changes_nothing() {
    let registry = registry();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("policy.json");
    let shared = SharedPolicy::default();
    std::fs::write(&path, JSON).unwrap();
    let loaded = shared.reload_file(&path, &registry).unwrap();
    assert!(loaded.changed && loaded.unknown.is_empty());
    assert_eq!(&*loaded.version, shared.current().version());
    // The same content with different formatting has the same version.
    std::fs::write(&path, JSON.replace("    ", "")).unwrap();
    assert!(!shared.reload_file(&path, &registry).unwrap().changed);
    let tools = registry.toolset(&ToolContext::anonymous(), &Rules::default().policy(&shared));
    for wrong in [
        "",
        "{",
        r#"{"agents": 1}"#,
        r#"{"rules": [{"name": "a", "verdict": "allow", "four_eyes": true}]}"#,
    ] {
        std::fs::write(&path, wrong).unwrap();
        assert!(shared.reload_file(&path, &registry).is_err(), "{wrong}");
        assert_eq!(&*loaded.version, shared.current().version());
        assert!(tools.explain("write_file").is_visible());
    }
    for path in ["no_such_file.json", "policy.ini", "policy"] {
        assert!(
            shared
                .reload_file(folder.path().join(path), &registry)
                .is_err(),
            "{path}"
        );
    }
    // The denial applies to the next call of a running turn.
    std::fs::write(&path, r#"{"tools": {"deny": ["write_file"]}}"#).unwrap();
    assert!(shared.reload_file(&path, &registry).unwrap().changed);
    assert_eq!(tools.explain("write_file").layer(), Some(Layer::Global));
}

// `shared_policy` returns the policy of a turn's rules, also after the policy was replaced.
#[test]
fn rules_return_the_shared_policy() {
    assert!(Rules::default().shared_policy().is_none());
    let policy = SharedPolicy::new(PolicyFile::from_json("{}").unwrap().build().unwrap());
    let rules = Rules::default().policy(&policy);
    let version = || {
        rules
            .shared_policy()
            .unwrap()
            .current()
            .version()
            .to_owned()
    };
    let before = version();
    policy.replace(PolicyFile::from_json(JSON).unwrap().build().unwrap());
    assert_ne!(version(), before);
    assert_eq!(version(), policy.current().version());
}
