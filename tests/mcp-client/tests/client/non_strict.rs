//! Tests of tools with schemas that no strict mode accepts.

use serde_json::{Value, json};
use tool_core::prelude::*;
use tool_core::store::{AuditFilter, AuditSink as _, MemoryStore, Scope};
use tool_core::{Audit, ErrorKind, Gate};
use tool_mcp::client::{Refusal, mcp_tools};
use tool_wire::Provider;

use crate::support::{Listed, call, open, payload};

const STRICT: [Dialect; 2] = [Dialect::OpenAi, Dialect::Anthropic];

fn list(name: &str) -> Value {
    let file = tool_mcp_client_tests::script("lists").join(name);
    serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap()
}

// If the host allows it, every tool of the MongoDB and Notion servers is offered to OpenAI and Anthropic.
#[tokio::test]
async fn every_tool_of_real_servers_is_offered_where_the_host_allows_it() {
    for name in ["mongodb.json", "notion.json"] {
        let listed = Listed::start(&json!({"tools": list(name)})).await;
        let by_default = mcp_tools(&listed.client).await.unwrap();
        let kept_out = by_default.report().tools().iter().filter(|tool| {
            !STRICT
                .iter()
                .all(|dialect| tool.providers.contains(*dialect))
        });
        assert!(kept_out.count() > 0, "{name}");
        assert!(
            by_default
                .report()
                .tools()
                .iter()
                .all(|tool| tool.non_strict.is_empty())
        );

        let tools = mcp_tools(&listed.client).allow_non_strict().await.unwrap();
        for tool in tools.report().tools() {
            assert!(tool.is_offered(), "{tool}");
            for dialect in Dialect::ALL {
                assert!(tool.providers.contains(dialect), "{tool}");
            }
        }
        // Tools that a provider accepts in strict mode remain strict.
        for (before, after) in by_default
            .report()
            .tools()
            .iter()
            .zip(tools.report().tools())
        {
            for dialect in Dialect::ALL {
                let is_strict = after.non_strict.iter().all(|(loose, _)| *loose != dialect);
                assert_eq!(before.providers.contains(dialect), is_strict, "{after}");
            }
        }
        let toolset = open(&tools);
        for provider in Provider::ALL {
            let offer = provider.offer(&toolset).unwrap();
            assert!(offer.left_out().is_empty(), "{:?}", offer.left_out());
            let offered: Value = serde_json::from_str(offer.tools()).unwrap();
            let offered = offered.as_array().unwrap();
            assert_eq!(offered.len(), toolset.tools().count());
            for (sent, def) in offered.iter().zip(toolset.tools()) {
                let strict = match provider {
                    Provider::Chat => &sent["function"]["strict"],
                    Provider::Responses | Provider::Anthropic => &sent["strict"],
                    Provider::Bedrock => &sent["toolSpec"]["strict"],
                    Provider::Gemini => continue,
                };
                // Anthropic accepts only a limited number of strict tools and optional parameters.
                let expected = !offer.non_strict().any(|name| name == def.wire_name());
                assert!(
                    expected
                        || provider.dialect() == Dialect::Anthropic
                        || def.non_strict().contains(provider.dialect())
                );
                assert!(!expected || !def.non_strict().contains(provider.dialect()));
                assert_eq!(*strict, json!(expected), "{provider} {}", def.name());
            }
        }
    }
}

fn served() -> Value {
    json!({"tools": [
        {"name": "aggregate", "description": "Runs a pipeline.", "inputSchema": {
            "type": "object",
            "properties": {
                "collection": {"type": "string", "minLength": 1},
                "pipeline": {"type": "array", "items": {"type": "object", "additionalProperties": {}}},
                "limit": {"type": "integer", "minimum": 1},
            },
            "required": ["collection", "pipeline"],
            "additionalProperties": false,
        }, "outputSchema": {
            "type": "object",
            "properties": {"rows": {"type": "object", "additionalProperties": {"type": "integer"}, "minProperties": 1}},
            "required": ["rows"],
        }},
        {"name": "either", "description": "Takes one of two.", "inputSchema": {
            "type": "object",
            "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
            "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
        }},
        {"name": "named", "description": "Takes named values.", "inputSchema": {
            "type": "object",
            "properties": {"values": {"type": "object", "propertyNames": {"pattern": "^[a-z]+$"}, "additionalProperties": {"type": "number"}}},
        }},
        {"name": "plain", "description": "Is strict.", "inputSchema": {
            "type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": false,
        }},
    ]})
}

// The server's own schema is sent. Only the parts that a provider refuses even without strict mode are changed, and each change is reported.
#[tokio::test]
async fn server_schema_is_sent_without_the_keywords_that_the_provider_refuses() {
    let listed = Listed::start(&served()).await;
    let tools = mcp_tools(&listed.client).allow_non_strict().await.unwrap();
    let toolset = open(&tools);
    let sent = |name: &str, dialect| -> Value {
        serde_json::from_str(toolset.get(name).unwrap().schema(dialect)).unwrap()
    };
    let own = |at: usize| served()["tools"][at]["inputSchema"].clone();
    assert_eq!(sent("aggregate", Dialect::Anthropic), own(0));
    let changes = |name: &str, dialect| {
        let report = tools.report().get(name).unwrap();
        let of = report
            .changes
            .iter()
            .filter(|(changed, _)| *changed == dialect);
        of.flat_map(|(_, faults)| {
            faults
                .iter()
                .map(|fault| (fault.rule, fault.pointer.clone()))
        })
        .collect::<Vec<_>>()
    };
    assert_eq!(changes("aggregate", Dialect::Anthropic), []);
    assert_eq!(
        changes("aggregate", Dialect::OpenAi),
        [("zero-args", "/properties/pipeline/items".to_owned())]
    );
    for dialect in STRICT {
        let either = sent("either", dialect);
        assert!(either.get("anyOf").is_none(), "{either}");
        assert_eq!(either["properties"], own(1)["properties"]);
        assert!(
            either["description"].as_str().unwrap().contains("anyOf"),
            "{either}"
        );
        assert_eq!(changes("either", dialect)[0].0, "root-union");
    }
    assert_eq!(sent("named", Dialect::Anthropic), own(2));
    let named = sent("named", Dialect::OpenAi);
    assert!(
        named["properties"]["values"].get("propertyNames").is_none(),
        "{named}"
    );
    assert!(
        named["properties"]["values"]["description"]
            .as_str()
            .unwrap()
            .contains("^[a-z]+$")
    );
    // The text of the report lists the same changes.
    let said = tools.report().to_string();
    for says in [
        "`aggregate`: offered to openai (not strict), anthropic (not strict)",
        "  not strict for openai: `/properties/pipeline/items",
        "  changed for openai: `/properties/values`: [property-names]",
        "`plain`: offered to openai, anthropic, gemini, mcp, json_schema\n",
    ] {
        assert!(said.contains(says), "{says}\n{said}");
    }
}

// Arguments are validated against the server's own schema before anything is sent.
#[tokio::test]
async fn arguments_that_do_not_fit_are_not_sent() {
    let listed = Listed::start(&served()).await;
    let tools = open(&mcp_tools(&listed.client).allow_non_strict().await.unwrap());
    for (name, arguments, pointer) in [
        ("aggregate", json!({"pipeline": []}), "/collection"),
        (
            "aggregate",
            json!({"collection": "", "pipeline": []}),
            "/collection",
        ),
        (
            "aggregate",
            json!({"collection": "c", "pipeline": [1]}),
            "/pipeline/0",
        ),
        (
            "aggregate",
            json!({"collection": "c", "pipeline": [], "more": 1}),
            "/more",
        ),
        (
            "aggregate",
            json!({"collection": "c", "pipeline": [], "limit": 0}),
            "/limit",
        ),
        ("either", json!({}), "/a"),
        ("named", json!({"values": {"A": 1}}), "/values"),
        ("named", json!({"values": {"a": "x"}}), "/values/a"),
        ("plain", json!({"n": 1.5}), "/n"),
    ] {
        let result = call(&tools, name, arguments.clone()).await;
        let error = result
            .error()
            .unwrap_or_else(|| panic!("{name} {arguments}"));
        assert_eq!(
            error.kind(),
            ErrorKind::InvalidArguments,
            "{name} {arguments}"
        );
        assert_eq!(
            error.issues()[0].pointer,
            pointer,
            "{name} {arguments}: {}",
            error.model_text()
        );
    }
    let twice = ToolCall::new("c", "either", r#"{"a":"x","b":{"k":1,"k":2}}"#);
    let twice = tools.call(twice, &ToolContext::anonymous()).await;
    assert_eq!(twice.error().unwrap().kind(), ErrorKind::InvalidArguments);

    // Valid arguments are sent unchanged.
    for (name, arguments) in [
        ("either", json!({"b": "x", "more": [1, null]})),
        ("named", json!({"values": {"a": 1.25}})),
        ("plain", json!({"n": 3})),
    ] {
        let result = call(&tools, name, arguments.clone()).await;
        assert_eq!(payload(&result), arguments);
        assert!(result.repairs().is_empty());
    }
}

// Results are validated against the server's own output schema.
#[tokio::test]
async fn results_that_do_not_fit_their_schema_fail() {
    for (rows, fits) in [
        (json!({"a": 1}), true),
        (json!({}), false),
        (json!({"a": "x"}), false),
    ] {
        let mut served = served();
        served["answers"]["aggregate"] =
            json!({"content": [], "structuredContent": {"rows": rows}});
        let listed = Listed::start(&served).await;
        let tools = open(&mcp_tools(&listed.client).allow_non_strict().await.unwrap());
        let result = call(
            &tools,
            "aggregate",
            json!({"collection": "c", "pipeline": []}),
        )
        .await;
        assert_eq!(result.error().is_none(), fits, "{rows}");
        if let Some(error) = result.error() {
            assert!(
                error.operator_text().contains("/rows"),
                "{}",
                error.operator_text()
            );
        }
    }
}

// Repair corrects arguments only if a single correction is possible, and the schema must admit the result.
#[tokio::test]
async fn repairs_admit_only_what_the_own_schema_admits() {
    let listed = Listed::start(&served()).await;
    let tools = open(&mcp_tools(&listed.client).allow_non_strict().await.unwrap());
    let cx = ToolContext::anonymous();
    let fenced = ToolCall::new("c", "either", "```json\n{\"a\": \"x\",}\n```");
    let result = tools.call(fenced, &cx).await;
    assert_eq!(payload(&result), json!({"a": "x"}));
    assert!(!result.repairs().is_empty());
    let single = json!({"values": {"a": "1.5"}});
    let named = call(&tools, "named", single.clone()).await;
    let off = call(&tools.clone().repair(Repair::Off), "named", single).await;
    assert_eq!(off.error().unwrap().kind(), ErrorKind::InvalidArguments);
    if named.error().is_none() {
        assert_eq!(payload(&named), json!({"values": {"a": 1.5}}));
    }
    // The parsed schema tree does not cover `anyOf` at the root.
    let neither = call(&tools, "either", json!({"a": null})).await;
    assert_eq!(neither.error().unwrap().kind(), ErrorKind::InvalidArguments);
}

// The audit row names the providers to which the tool is offered without strict mode.
#[tokio::test]
async fn audit_rows_name_the_providers_that_are_not_strict() {
    let listed = Listed::start(&served()).await;
    let tools = open(&mcp_tools(&listed.client).allow_non_strict().await.unwrap());
    let store = MemoryStore::default();
    let gate = Gate::builder()
        .audit(Audit::required(store.clone()))
        .build();
    let tools = tools.through(&gate);
    let _ = call(
        &tools,
        "aggregate",
        json!({"collection": "c", "pipeline": []}),
    )
    .await;
    let _ = call(&tools, "plain", json!({"n": 1})).await;
    let rows = store
        .export(Scope::All, &AuditFilter::default())
        .await
        .unwrap();
    let notes = |name: &str| {
        let row = rows
            .iter()
            .find(|row| row.tool == name)
            .unwrap_or_else(|| panic!("{rows:?}"));
        row.notes
            .iter()
            .map(|note| (note.action.clone(), note.details.clone()))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        notes("aggregate"),
        [(
            "non_strict".to_owned(),
            r#"{"providers":["openai","anthropic"]}"#.to_owned()
        )]
    );
    assert_eq!(notes("plain"), []);
}

// The host can allow non-strict schemas for single tools, and a tool whose schema cannot be checked is refused.
#[tokio::test]
async fn non_strict_needs_the_hosts_choice_and_a_checkable_schema() {
    let mut served = served();
    let tools = served["tools"].as_array_mut().unwrap();
    for (name, property) in [
        ("remote", json!({"$ref": "https://example.com/schema.json"})),
        ("file", json!({"$ref": "file:///etc/passwd"})),
        ("cycle", json!({"$ref": "#/properties/x"})),
        (
            "deep",
            (0..100).fold(json!({}), |inner, _| json!({"items": inner})),
        ),
        ("dangling", json!({"$ref": "#/$defs/none"})),
        ("invalid", json!({"type": "nothing"})),
    ] {
        let schema = json!({"type": "object", "properties": {"x": property}});
        tools.push(json!({"name": name, "description": "Does it.", "inputSchema": schema}));
    }
    tools.push(json!({"name": "list", "description": "Takes a list.", "inputSchema": {"type": "object", "properties": {"x y": {}}}}));
    let listed = Listed::start(&served).await;
    let tools = mcp_tools(&listed.client)
        .allow_non_strict_tool("named")
        .await
        .unwrap();
    let is_loose = |name: &str| !tools.report().get(name).unwrap().non_strict.is_empty();
    assert!(is_loose("named") && !is_loose("either") && !is_loose("aggregate"));

    let tools = mcp_tools(&listed.client).allow_non_strict().await.unwrap();
    for (name, says) in [
        ("remote", "nothing is fetched"),
        ("file", "nothing is fetched"),
        ("cycle", "leads back to its own schema"),
        ("deep", "nested more than 64 levels"),
        ("dangling", "has no target in this schema"),
        ("invalid", "cannot be validated"),
    ] {
        let report = tools.report().get(name).unwrap();
        assert!(
            matches!(&report.refusals[..], [Refusal::Schema(_)]),
            "{report}"
        );
        assert!(report.to_string().contains(says), "{report}");
    }
    // Anthropic refuses this property key in every mode.
    let report = tools.report().get("list").unwrap();
    assert!(report.providers.contains(Dialect::OpenAi), "{report}");
    assert!(!report.providers.contains(Dialect::Anthropic), "{report}");
    assert!(
        report
            .to_string()
            .contains("not for anthropic: `/`: [property-key]"),
        "{report}"
    );
}
