//! Combining, renaming and filtering toolsets.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tool_core::policy::{Policy, Rule};
use tool_core::prelude::*;
use tool_core::{DynamicTool, ErrorKind, Gate, Layer, ListedTool, Rules, ToolsetError};

/// Searches the docs.
#[tool(category = "web", title = "Search", example("A plain lookup", { "query": "serde" }))]
async fn search(
    /// The text to search for.
    query: String,
) -> String {
    query
}

/// Returns the name of the tool.
#[tool]
async fn whoami(cx: &ToolContext) -> String {
    cx.tool_name().unwrap_or_default().to_owned()
}

mod chief {
    use tool_core::prelude::*;

    /// Searches the docs with a better engine.
    #[tool]
    pub(super) async fn search(
        /// The text to search for.
        query: String,
    ) -> String {
        format!("better {query}")
    }
}

fn base() -> Toolset {
    toolset![search, whoami].named("base")
}

fn dynamic(name: &str) -> DynamicTool {
    let schema =
        json!({"type": "object", "properties": {}, "required": [], "additionalProperties": false});
    DynamicTool::new(
        name,
        "Does something.",
        schema,
        |_: Value, _: ToolContext| async { Ok::<_, ToolError>(1) },
    )
}

async fn call(tools: &Toolset, name: &str, arguments: &str) -> CallResult {
    tools
        .call(
            ToolCall::new("1", name, arguments),
            &ToolContext::anonymous(),
        )
        .await
}

fn defined(tools: &Toolset, dialect: Dialect) -> Vec<Value> {
    serde_json::from_str(&tools.definitions(dialect)).unwrap()
}

// M2: a renamed tool is defined under its new name in every dialect, and the rest of its definition is unchanged.
#[test]
fn definitions_use_the_exposed_name() {
    let tools = base().rename([("search", "find")]).unwrap();
    assert!(tools.names().eq(["find", "whoami"]));
    for dialect in Dialect::ALL {
        let (own, renamed) = (base(), tools.get("find").unwrap().definition(dialect));
        let own = own.get("search").unwrap().definition(dialect).to_owned();
        assert_eq!(
            renamed,
            own.replacen("\"search\"", "\"find\"", 1),
            "{}",
            dialect.name()
        );
        assert!(tools.definitions(dialect).contains(renamed));
        assert_eq!(
            tools.get("find").unwrap().schema(dialect),
            base().get("search").unwrap().schema(dialect)
        );
    }
    assert!(tools.faults().is_empty());
    assert!(tools.left_out(Dialect::OpenAi).next().is_none());
}

// S2-10: a call by the exposed name runs the tool under its own name, and the result has the exposed name.
#[tokio::test]
async fn renamed_calls_are_mapped_back_to_the_own_name() {
    let tools = base()
        .prefix("docs")
        .unwrap()
        .rename([("docs__whoami", "me")])
        .unwrap();
    assert!(tools.names().eq(["docs__search", "me"]));
    let result = call(&tools, "me", "{}").await;
    assert_eq!(
        (result.name(), result.model_text().as_str()),
        ("me", "whoami")
    );
    assert_eq!(tools.get("me").unwrap().name(), "whoami");
    assert_eq!(tools.get("me").unwrap().wire_name(), "me");
    assert_eq!(
        call(&tools, "docs__search", r#"{"query":"x"}"#)
            .await
            .model_text(),
        "x"
    );
    let gone = call(&tools, "whoami", "{}").await;
    assert_eq!(gone.error().unwrap().kind(), ErrorKind::UnknownTool);
    let near = call(&tools, "docs_search", "{}").await.model_text();
    assert!(near.contains("`docs__search`"), "{near}");
    let typed = tools
        .invoke(
            search {
                query: "typed".to_owned(),
            },
            &ToolContext::anonymous(),
        )
        .await;
    assert_eq!(typed.unwrap(), "typed");
    let explanation = tools.explain("search");
    assert!(
        explanation.is_visible(),
        "`explain` also accepts the own name: {explanation}"
    );
}

// S0-16, M14: rules and policies still use the own name of a renamed tool.
#[tokio::test]
async fn rules_name_tools_by_their_own_names() {
    let registry = Registry::builder()
        .tool::<search>()
        .tool::<whoami>()
        .build()
        .unwrap();
    let shared = Policy::builder()
        .rule(Rule::ask("me").tools(["whoami"]))
        .share()
        .unwrap();
    let cx = ToolContext::anonymous();
    let tools = registry
        .toolset(&cx, &Rules::default().deny(["search"]).policy(&shared))
        .prefix("x")
        .unwrap();
    assert!(tools.names().eq(["x__whoami"]));
    assert_eq!(tools.explain("x__search").layer(), Some(Layer::Deny));
    assert_eq!(
        call(&tools, "x__whoami", "{}")
            .await
            .error()
            .unwrap()
            .kind(),
        ErrorKind::Pending
    );
    shared.kill("whoami", None);
    assert_eq!(
        call(&tools, "x__whoami", "{}")
            .await
            .error()
            .unwrap()
            .kind(),
        ErrorKind::UnknownTool
    );
    assert_eq!(tools.explain("x__whoami").layer(), Some(Layer::Killed));
}

// S0-21: a call of a tool that a filter hides is refused.
#[tokio::test]
async fn filtered_tool_is_hidden_and_its_calls_are_refused() {
    let tools = base().filter(|tool| tool.category() != "web");
    assert!(tools.names().eq(["whoami"]));
    assert_eq!(tools.explain("search").layer(), Some(Layer::Filter));
    assert_eq!(
        call(&tools, "search", r#"{"query":"x"}"#)
            .await
            .error()
            .unwrap()
            .kind(),
        ErrorKind::UnknownTool
    );
}

// M2: a tool's description may change for a turn; its examples are kept, in every dialect.
#[test]
fn prepare_can_change_descriptions() {
    let tools = base()
        .prepare(|list| {
            assert_eq!(list.len(), 2);
            let keep = list.into_iter().filter(|tool| tool.name == "search");
            keep.map(|tool| ListedTool {
                description: "Searches the \"archive\".".to_owned(),
                ..tool
            })
            .collect()
        })
        .unwrap();
    assert!(tools.names().eq(["search"]));
    assert_eq!(tools.explain("whoami").layer(), Some(Layer::Prepare));
    assert_eq!(
        tools.get("search").unwrap().description(),
        "Searches the \"archive\"."
    );
    for dialect in Dialect::ALL {
        let definition = &defined(&tools, dialect)[0];
        let definition = definition.get("function").unwrap_or(definition);
        assert_eq!(definition["name"], "search");
        let description = definition["description"].as_str().unwrap();
        assert!(
            description.starts_with("Searches the \"archive\"."),
            "{description}"
        );
        let own = &defined(&base(), dialect)[0];
        let own = own.get("function").unwrap_or(own)["description"]
            .as_str()
            .unwrap();
        assert_eq!(
            description.strip_prefix("Searches the \"archive\"."),
            own.strip_prefix("Searches the docs."),
            "the text after the description is unchanged"
        );
    }
    // A later prefix keeps the changed description.
    let renamed = tools.prefix("x").unwrap();
    assert_eq!(
        renamed.get("x__search").unwrap().description(),
        "Searches the \"archive\"."
    );
}

#[test]
fn prepare_cannot_add_or_rename_tools() {
    let shown = |name: &str| ListedTool {
        name: name.to_owned(),
        description: String::new(),
    };
    let added = base().prepare(|mut list| {
        list.push(shown("more"));
        list
    });
    assert_eq!(
        added.unwrap_err(),
        ToolsetError::Added {
            name: "more".to_owned()
        }
    );
    let renamed = base().prepare(|mut list| {
        list[0].name = "other".to_owned();
        list
    });
    assert_eq!(
        renamed.unwrap_err(),
        ToolsetError::Added {
            name: "other".to_owned()
        }
    );
    let twice = base().prepare(|mut list| {
        list.push(list[0].clone());
        list
    });
    assert_eq!(
        twice.unwrap_err(),
        ToolsetError::Twice {
            name: "search".to_owned()
        }
    );
    // A hidden tool cannot be made visible again.
    let hidden = base()
        .filter(|tool| tool.name() != "search")
        .prepare(|mut list| {
            list.push(shown("search"));
            list
        });
    assert_eq!(
        hidden.unwrap_err(),
        ToolsetError::Added {
            name: "search".to_owned()
        }
    );
}

// S1-02: toolsets with different gates are not combined, because the calls would pass only one of the gates.
#[test]
fn toolsets_with_different_gates_are_not_combined() {
    let gate = || Gate::builder().build();
    let (first, second) = (gate(), gate());
    let chief = || toolset![chief::search].prefix("chief").unwrap();
    let error = base().through(&first).combine(&chief().through(&second));
    assert_eq!(error.unwrap_err(), ToolsetError::Gates);
    for (one, other) in [
        (base().through(&first), chief()),
        (base(), chief().through(&first)),
        (base().through(&first), chief().through(&first.clone())),
    ] {
        let both = one.combine(&other).unwrap();
        assert!(both.gate().is_some() && both.names().count() == 3);
    }
}

// S1-02: combining two tools of the same name is an error that names both toolsets and the correction.
#[test]
fn name_collision_reports_both_tools() {
    let error = base()
        .combine(&toolset![chief::search].named("chief"))
        .unwrap_err()
        .to_string();
    for text in [
        "`search`",
        "toolset `base` (`toolsets::combining` of crate",
        "toolset `chief` (`toolsets::combining::chief` of crate",
        "`prefix()`",
    ] {
        assert!(error.contains(text), "{text}: {error}");
    }
    let both = base()
        .combine(&toolset![chief::search].prefix("chief").unwrap())
        .unwrap();
    assert!(both.names().eq(["chief__search", "search", "whoami"]));
    // A different tool may have the name of a hidden tool.
    let hidden = base().filter(|tool| tool.name() != "search");
    assert!(
        hidden
            .combine(&toolset![chief::search])
            .unwrap()
            .names()
            .eq(["search", "whoami"])
    );
    let error = base().rename([("whoami", "search")]).unwrap_err();
    assert!(
        matches!(error, ToolsetError::Collision { ref name, .. } if name == "search"),
        "{error}"
    );
    assert!(
        base()
            .rename([("whoami", "search"), ("search", "whoami")])
            .unwrap()
            .names()
            .eq(["search", "whoami"])
    );
    assert_eq!(
        base().rename([("serch", "x")]).unwrap_err(),
        ToolsetError::Unknown {
            name: "serch".to_owned()
        }
    );
    let long = "x".repeat(60);
    assert!(matches!(
        base().prefix(&long),
        Err(ToolsetError::Name { .. })
    ));
}

// S2-08, S2-09, S2-10: every agent has the baseline tools in each turn. An agent's own tools override them, and the toolset reports the override.
#[tokio::test]
async fn agent_tools_override_baseline_tools() {
    let registry = Registry::builder()
        .tool::<search>()
        .tool::<whoami>()
        .build()
        .unwrap();
    let turn = || registry.toolset(&ToolContext::anonymous(), &Rules::default());
    let own = toolset![chief::search]
        .combine(
            &Registry::builder()
                .dynamic(dynamic("plan"))
                .build()
                .unwrap()
                .open(),
        )
        .unwrap();
    for _ in 0..2 {
        let (chief, scout) = (turn().with_agent_tools(&own), turn());
        assert!(chief.names().eq(["plan", "search", "whoami"]));
        assert!(scout.names().eq(["search", "whoami"]));
        assert_eq!(
            call(&chief, "search", r#"{"query":"x"}"#)
                .await
                .model_text(),
            "better x"
        );
        assert_eq!(
            call(&scout, "search", r#"{"query":"x"}"#)
                .await
                .model_text(),
            "x"
        );
        let [overridden] = chief.overridden() else {
            panic!("{:?}", chief.overridden())
        };
        assert_eq!(overridden.name, "search");
        assert!(
            overridden.kept.contains("toolsets::combining::chief")
                && overridden.dropped.contains("`toolsets::combining`")
        );
        assert!(scout.overridden().is_empty());
    }
}

/// A tracing subscriber that collects warnings.
struct Warnings(Arc<Mutex<Vec<String>>>);

impl tracing::Subscriber for Warnings {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        *metadata.level() == tracing::Level::WARN
    }
    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }
    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}
    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}
    fn event(&self, event: &tracing::Event<'_>) {
        struct Fields(String);
        impl tracing::field::Visit for Fields {
            fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn std::fmt::Debug) {
                write!(self.0, "{}={value:?} ", field.name()).unwrap();
            }
        }
        let mut fields = Fields(String::new());
        event.record(&mut fields);
        self.0.lock().unwrap().push(fields.0);
    }
    fn enter(&self, _: &tracing::span::Id) {}
    fn exit(&self, _: &tracing::span::Id) {}
}

// S1-04, S2-10: a tool whose environment variable is not set is left out with one warning that names tool and variable; a
// tool that an agent's tool replaces is left out with a warning, too.
#[test]
fn omitted_tools_are_logged_once() {
    let warnings = Arc::new(Mutex::new(Vec::new()));
    // With a single subscriber, tracing decides whether a callsite is enabled on the thread that reaches the callsite first, which may be the thread
    // of a different test.
    let _second = tracing::Dispatch::new(tracing::subscriber::NoSubscriber::default());
    let registry = tracing::subscriber::with_default(Warnings(Arc::clone(&warnings)), || {
        let registry = Registry::builder()
            .dynamic(dynamic("legacy"))
            .dynamic(dynamic("set"))
            .required_env("legacy", "TOOL_CORE_IS_NEVER_SET")
            .required_env("set", "PATH")
            .required_env("no_such_tool", "TOOL_CORE_IS_NEVER_SET")
            .build()
            .unwrap();
        drop(base().with_agent_tools(&toolset![chief::search]));
        registry
    });
    let tools = registry.toolset(&ToolContext::anonymous(), &Rules::default());
    assert!(tools.names().eq(["set"]));
    let explanation = tools.explain("legacy");
    assert_eq!(explanation.layer(), Some(Layer::Environment));
    assert!(
        explanation
            .to_string()
            .ends_with("(`TOOL_CORE_IS_NEVER_SET`)"),
        "{explanation}"
    );
    let warnings = warnings.lock().unwrap();
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    assert!(
        warnings[0].contains("tool=\"legacy\" variable=\"TOOL_CORE_IS_NEVER_SET\""),
        "{warnings:?}"
    );
    assert!(warnings[1].contains("tool=\"search\""), "{warnings:?}");
}
