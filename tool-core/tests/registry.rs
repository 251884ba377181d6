//! The registry of all tools, and the toolset of a turn.
//!
//! This test is a separate program, because it links two tools with one name, so that `Registry::linked` fails.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use serde_json::{Value, json};
use tool_core::prelude::*;
use tool_core::{Approval, Dialects, DynamicTool, Effect, Rules, SecretKind, SecretNeed};

/// Searches the index. Use it before answering.
#[tool(
    category = "search",
    tags("docs", "read"),
    title = "Search the docs",
    read_only,
    example("A plain lookup", { "query": "serde rename" }),
)]
async fn search(
    #[secret("docs_api_key")] key: SecretString,
    /// What to search for.
    query: String,
) -> Result<String, ToolError> {
    let _ = key;
    Ok(query)
}

/// Has no options.
#[tool]
async fn plain() -> String {
    "plain".to_owned()
}

/// Removes all entries.
#[tool(destructive, approval, sequential, harness)]
async fn purge() -> String {
    "gone".to_owned()
}

/// Serves only some providers.
#[tool(providers(mcp, anthropic))]
async fn narrow() -> String {
    "narrow".to_owned()
}

mod other {
    use tool_core::prelude::*;

    /// Has the name of a different tool.
    #[tool(name = "plain")]
    pub(super) async fn plainer() -> String {
        "plainer".to_owned()
    }
}

fn dynamic(name: &str) -> DynamicTool {
    let schema = json!({
        "type": "object",
        "properties": {"text": {"type": "string", "description": "The text to write."}},
        "required": ["text"],
        "additionalProperties": false
    });
    DynamicTool::new(
        name,
        "Writes the text in capital letters.",
        schema,
        |arguments: Value, _| async move {
            Ok::<_, ToolError>(arguments["text"].as_str().unwrap_or("").to_uppercase())
        },
    )
}

fn explicit() -> Registry {
    Registry::builder()
        .tool::<search>()
        .tool::<plain>()
        .tool::<purge>()
        .tool::<narrow>()
        .build()
        .unwrap()
}

// S0-01, S1-05, S1-09: a tool's definition contains its name, description, schema and options.
#[test]
fn definition_contains_name_schema_and_options() {
    let registry = explicit();
    let def = registry.get("search").unwrap();
    assert_eq!(def.name(), "search");
    assert_eq!(
        def.description(),
        "Searches the index. Use it before answering."
    );
    assert_eq!(def.title().as_deref(), Some("Search the docs"));
    assert_eq!(
        (def.category(), registry.get("plain").unwrap().category()),
        ("search", "general")
    );
    assert!(def.tags().eq(["docs", "read"]));
    assert_eq!(def.secrets()[0].key, "docs_api_key");
    assert!(!def.secrets()[0].optional);
    assert!(def.hints().read_only && !def.hints().destructive);
    let purge = registry.get("purge").unwrap();
    assert!(purge.hints().destructive && purge.effect().contains(Effect::DESTROY));
    assert!(
        purge.is_sequential() && purge.is_harness() && matches!(purge.approval(), Approval::Always)
    );
    let schema: Value = serde_json::from_str(def.schema(Dialect::JsonSchema)).unwrap();
    assert_eq!(
        schema["properties"]["query"]["description"],
        "What to search for."
    );
    assert!(def.origin().unwrap().file.ends_with("registry.rs"));
}

// S0-02: `Registry::linked` finds the linked tools. Two of the tools of this program have one name, so it returns an error.
#[test]
fn linked_tools_with_one_name_are_an_error() {
    let error = Registry::linked().unwrap_err().to_string();
    assert!(error.contains("two tools are named `plain`"), "{error}");
}

// S1-02: for two tools of the same name, `build` returns an error that names the source locations of both.
#[test]
fn duplicates_name_both_origins() {
    let error = Registry::builder()
        .tool::<plain>()
        .tool::<other::plainer>()
        .build()
        .unwrap_err()
        .to_string();
    assert!(error.contains("`plain`"), "{error}");
    assert!(error.contains("`registry` of crate `tool-core`"), "{error}");
    assert!(
        error.contains("`registry::other` of crate `tool-core`"),
        "{error}"
    );
    assert_eq!(error.matches("registry.rs:").count(), 2, "{error}");
    let error = Registry::builder()
        .dynamic(dynamic("plain"))
        .tool::<plain>()
        .build()
        .unwrap_err()
        .to_string();
    assert_eq!(error.matches("registry.rs:").count(), 2, "{error}");
}

// S1-06: for a malformed secret of a dynamic tool, `build` returns an error that names the tool.
#[test]
fn malformed_needs_are_refused() {
    let select = SecretNeed {
        kind: SecretKind::Select(vec![].into()),
        ..SecretNeed::new("provider")
    };
    for (need, text) in [(select, "no choices"), (SecretNeed::new(""), "empty")] {
        let error = Registry::builder()
            .dynamic(dynamic("shout").secret(need))
            .build()
            .unwrap_err()
            .to_string();
        assert!(error.contains("`shout`") && error.contains(text), "{error}");
    }
}

// S0-01: a dynamic tool must follow the rules of every provider that it is offered to.
#[test]
fn dynamic_tool_must_follow_the_rules_of_its_providers() {
    let open = || {
        DynamicTool::new(
            "open",
            "Takes anything.",
            json!({"type": "object", "additionalProperties": {"type": "string"}}),
            |_: Value, _| async { "x" },
        )
    };
    let error = Registry::builder()
        .dynamic(open())
        .build()
        .unwrap_err()
        .to_string();
    assert!(error.contains("tool `open`: openai"), "{error}");
    let registry = Registry::builder()
        .dynamic(open().where_accepted())
        .build()
        .unwrap();
    assert!(registry.open().left_out(Dialect::OpenAi).eq(["open"]));
    assert!(registry.open().left_out(Dialect::Mcp).next().is_none());
    let error = Registry::builder()
        .dynamic(dynamic("not a name"))
        .build()
        .unwrap_err()
        .to_string();
    assert!(error.contains("tool-name"), "{error}");
    assert!(
        Registry::builder()
            .dynamic(open().providers(Dialects::only(Dialect::Mcp)))
            .build()
            .is_ok()
    );
}

// S0-07, S4-61: the arguments of a dynamic tool are validated like the arguments of other tools.
#[tokio::test]
async fn dynamic_tool_arguments_are_validated() {
    let tools = Registry::builder()
        .dynamic(dynamic("shout"))
        .build()
        .unwrap()
        .open()
        .repair(Repair::Off);
    let cx = ToolContext::anonymous();
    assert_eq!(
        tools
            .call(ToolCall::new("1", "shout", r#"{"text":"hi"}"#), &cx)
            .await
            .model_text(),
        "HI"
    );
    for arguments in [r#"{"text":1}"#, "{}", r#"{"text":"a","more":1}"#] {
        assert!(
            tools
                .call(ToolCall::new("1", "shout", arguments), &cx)
                .await
                .is_error(),
            "{arguments}"
        );
    }
}

// The tools are sorted by name, regardless of the order in which they are added.
#[test]
fn tools_are_sorted_by_name() {
    let registry = Registry::builder()
        .dynamic(dynamic("shout"))
        .tool::<search>()
        .tool::<plain>()
        .build()
        .unwrap();
    assert!(registry.open().names().eq(["plain", "search", "shout"]));
    let again = Registry::builder()
        .tool::<plain>()
        .tool::<search>()
        .dynamic(dynamic("shout"))
        .build()
        .unwrap();
    for dialect in Dialect::ALL {
        assert_eq!(
            registry.open().definitions(dialect),
            again.open().definitions(dialect)
        );
    }
}

// S0-05: definitions are one JSON array in each dialect; a tool that is left out of a dialect is reported.
#[test]
fn definitions_are_arrays() {
    let tools = explicit().open();
    for dialect in Dialect::ALL {
        let array: Vec<Value> = serde_json::from_str(&tools.definitions(dialect)).unwrap();
        let left_out: Vec<&str> = tools.left_out(dialect).collect();
        let narrow = matches!(dialect, Dialect::Mcp | Dialect::Anthropic);
        assert_eq!(array.len(), if narrow { 4 } else { 3 });
        assert_eq!(left_out, if narrow { vec![] } else { vec!["narrow"] });
    }
    assert_eq!(
        Registry::builder()
            .build()
            .unwrap()
            .open()
            .definitions(Dialect::Mcp),
        "[]"
    );
}

// S0-05: each call returns the same text; dialects, and rules that hide a tool, have different texts.
#[test]
fn definitions_are_stable_per_dialect_and_rules() {
    let (registry, cx) = (explicit(), ToolContext::anonymous());
    let ruled = registry.toolset(&cx, &Rules::default().deny(["purge"]));
    let mut seen: Vec<String> = Vec::new();
    for dialect in Dialect::ALL {
        let first = registry.open().definitions(dialect);
        for _ in 0..3 {
            assert_eq!(registry.open().definitions(dialect), first);
        }
        assert!(first.contains("purge") && !ruled.definitions(dialect).contains("purge"));
        assert!(!seen.contains(&first), "{dialect:?}");
        seen.push(first);
    }
}

// S1-63, S3-14: the description that the model reads contains each example with the example's label.
#[test]
fn examples_reach_the_model() {
    let registry = explicit();
    let text = registry.get("search").unwrap().definition(Dialect::OpenAi);
    let definition: Value = serde_json::from_str(text).unwrap();
    let description = definition["function"]["description"].as_str().unwrap();
    assert!(
        description.contains(r#"A plain lookup: {"query":"serde rename"}"#),
        "{description}"
    );
}

// S0-14, S0-16: without rules, a chat has every tool except harness tools (here `purge`); deny wins over allow.
#[test]
fn deny_list_overrides_allow_list() {
    let registry = explicit();
    let cx = ToolContext::builder()
        .secret("docs_api_key", "sk-1")
        .build();
    let names = |rules: &Rules| {
        registry
            .toolset(&cx, rules)
            .names()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(names(&Rules::default()), ["narrow", "plain", "search"]);
    assert_eq!(
        names(&Rules::default().allow(["plain", "search"]).deny(["search"])),
        ["plain"]
    );
    assert_eq!(
        names(&Rules::default().deny(["search"])),
        ["narrow", "plain"]
    );
    let tools = registry.toolset(&cx, &Rules::default().deny(["search"]));
    assert!(!tools.definitions(Dialect::Mcp).contains("\"search\""));
    assert_eq!((tools.len(), registry.len()), (2, 4));
}

// Too many tools for one request are reported, not dropped.
#[test]
fn exceeded_tool_budgets_are_reported() {
    let many = (0..21).fold(Registry::builder(), |builder, n| {
        builder.dynamic(dynamic(&format!("shout_{n}")))
    });
    let tools = many.build().unwrap().open();
    let faults: Vec<&str> = tools.faults().iter().map(|fault| fault.rule).collect();
    assert_eq!(faults, ["limit-strict-tools"]);
    assert_eq!(tools.len(), 21);
    assert!(explicit().open().faults().is_empty());
}

// `toolset!` builds a toolset of the named tools. It checks at compile time that one request can contain them.
#[test]
fn toolset_macro_builds_the_toolset_of_the_named_tools() {
    let tools = toolset![search, plain];
    assert!(tools.names().eq(["plain", "search"]));
    assert!(toolset![].is_empty());
}

/// Returns whether the key is set.
#[tool]
async fn maybe(#[secret("docs_api_key")] key: Option<SecretString>) -> bool {
    key.is_some()
}

// S1-49, S2-36: a host may require a secret that the tool declares as optional or does not declare; without the secret, the tool is hidden.
#[tokio::test]
async fn missing_host_required_secret_hides_the_tool() {
    let builder = || Registry::builder().tool::<maybe>().tool::<plain>();
    let without = ToolContext::anonymous();
    let with = ToolContext::builder()
        .secret("docs_api_key", "key-4711")
        .secret("other_key", "key-4712")
        .build();
    let names = |registry: &Registry, cx: &ToolContext| -> Vec<String> {
        let tools = registry.toolset(cx, &Rules::default());
        tools.names().map(str::to_owned).collect()
    };
    assert_eq!(
        names(&builder().build().unwrap(), &without),
        ["maybe", "plain"]
    );

    let required = builder()
        .required_secret("maybe", "docs_api_key")
        .required_secret("plain", "other_key")
        .required_secret("nobody", "docs_api_key")
        .build()
        .unwrap();
    assert_eq!(names(&required, &without), [""; 0]);
    assert_eq!(names(&required, &with), ["maybe", "plain"]);
    let needs = |name: &str| required.get(name).unwrap().secrets().to_vec();
    assert_eq!(needs("maybe"), [SecretNeed::new("docs_api_key")]);
    assert_eq!(needs("plain"), [SecretNeed::new("other_key")]);
    // The rest of the tool's definition is unchanged.
    let own = builder().build().unwrap();
    for dialect in Dialect::ALL {
        let definition = |registry: &Registry| {
            registry
                .get("maybe")
                .unwrap()
                .definition(dialect)
                .to_owned()
        };
        assert_eq!(definition(&required), definition(&own));
    }
    // The secret is also required after the tool is renamed.
    let renamed = required
        .toolset(&without, &Rules::default())
        .explain("maybe");
    assert!(format!("{renamed:?}").contains("Secrets"), "{renamed:?}");
    let tools = required.open().rename([("maybe", "perhaps")]).unwrap();
    assert!(!tools.get("perhaps").unwrap().secrets()[0].optional);
    let result = tools
        .call(ToolCall::new("c-1", "perhaps", "{}"), &with)
        .await;
    assert_eq!(result.model_text(), "true");

    let error = builder().required_secret("plain", "").build().unwrap_err();
    assert!(error.to_string().contains("[secret-spec] the key is empty"));
}

// An intersection of two sets of dialects contains only the dialects of both.
#[test]
fn sets_of_dialects_intersect() {
    let few = Dialects::only(Dialect::Mcp).with(Dialect::OpenAi);
    let others = Dialects::only(Dialect::OpenAi).with(Dialect::Gemini);
    assert_eq!(few.intersect(others), Dialects::only(Dialect::OpenAi));
    assert_eq!(
        few.intersect(few.without(Dialect::Mcp)),
        few.intersect(others)
    );
    assert!(few.intersect(Dialects::only(Dialect::Gemini)).is_empty());
}
