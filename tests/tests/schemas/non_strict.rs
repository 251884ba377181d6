//! The schemas of non-strict tools that are sent to each provider.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use serde_json::{Value, json};
use tool_core::prelude::*;
use tool_core::schema::dynamic::{SchemaFault, non_strict};
use tool_core::{Dialects, DynamicTool, Issue, SchemaCheck};
use tool_wire::Provider;

fn sent(schema: &Value, dialect: Dialect) -> (Value, Vec<SchemaFault>) {
    let sent = non_strict(schema, dialect).unwrap_or_else(|faults| panic!("{faults:?}: {schema}"));
    (serde_json::from_str(&sent.schema).unwrap(), sent.changes)
}

fn rules(changes: &[SchemaFault]) -> Vec<(&'static str, &str)> {
    changes
        .iter()
        .map(|fault| (fault.rule, &*fault.pointer))
        .collect()
}

// A schema without parts that a provider refuses in every mode is sent unchanged.
#[test]
fn schema_without_refused_parts_is_sent_unchanged() {
    let free = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": {
            "map": {"type": "object", "properties": {}, "additionalProperties": {"type": ["string", "null"]}},
            "any": {},
            "choice": {"oneOf": [{"type": "string", "minLength": 1}, {"type": "array", "items": {"$ref": "#/definitions/x"}}]},
            "cases": {"if": {"type": "string"}, "then": {"pattern": "^a(?=b)"}, "else": {"multipleOf": 3}},
            "defaulted": {"type": "string", "format": "uri", "default": "x", "examples": ["y"]},
            "pair": {"type": "array", "prefixItems": [{"type": "string"}], "items": {}},
        },
        "definitions": {"x": {"type": "object", "properties": {"next": {"$ref": "#/definitions/x"}}}},
    });
    for dialect in [
        Dialect::OpenAi,
        Dialect::Anthropic,
        Dialect::Mcp,
        Dialect::JsonSchema,
    ] {
        let (schema, changes) = sent(&free, dialect);
        assert_eq!(
            (schema, rules(&changes)),
            (free.clone(), vec![]),
            "{}",
            dialect.name()
        );
    }
}

// For OpenAI and Anthropic, the properties of a choice at the root become properties of one object. A key that only some branches require is
// optional.
#[test]
fn choices_at_the_root_become_properties() {
    let cases = [
        // The branches of the choice only require keys.
        (
            json!({"type": "object", "properties": {"a": {}, "b": {}}, "required": ["c"], "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}),
            json!({"a": {}, "b": {}}),
            vec!["c"],
        ),
        // The branches of the choice are objects, one of them behind a reference.
        (
            json!({"oneOf": [
                {"$ref": "#/$defs/page"},
                {"type": "object", "properties": {"kind": {"const": "list"}, "list": {"type": "string"}}, "required": ["kind", "list"], "additionalProperties": false},
            ], "$defs": {"page": {"type": "object", "properties": {"kind": {"const": "page"}, "page": {"type": "string"}}, "required": ["kind", "page"]}}}),
            json!({"kind": {"anyOf": [{"const": "page"}, {"const": "list"}]}, "page": {"type": "string"}, "list": {"type": "string"}}),
            vec!["kind"],
        ),
        // The root is an `allOf` of several objects, with a choice inside.
        (
            json!({"type": "object", "allOf": [
                {"properties": {"a": {"type": "string"}}, "required": ["a"]},
                {"anyOf": [{"properties": {"b": {"type": "string"}}}, {"type": "string"}]},
                {"properties": {"a": {"minLength": 2}}},
            ]}),
            json!({"a": {"allOf": [{"type": "string"}, {"minLength": 2}]}, "b": {"type": "string"}}),
            vec!["a"],
        ),
    ];
    for (schema, properties, required) in cases {
        for dialect in [Dialect::OpenAi, Dialect::Anthropic] {
            let (schema, changes) = sent(&schema, dialect);
            assert_eq!(schema["properties"], properties, "{schema}");
            assert_eq!(schema["required"], json!(required), "{schema}");
            assert_eq!(schema["type"], "object");
            for key in ["anyOf", "oneOf", "allOf"] {
                assert!(schema.get(key).is_none(), "{schema}");
            }
            assert!(
                changes.iter().any(|change| change.rule == "root-union"),
                "{changes:?}"
            );
            let description = schema["description"].as_str().unwrap();
            assert!(description.contains("Of`: ["), "{description}");
        }
        let (kept, _) = sent(&schema, Dialect::Mcp);
        let choice = ["anyOf", "oneOf", "allOf"]
            .iter()
            .find(|key| schema.get(**key).is_some())
            .unwrap();
        assert_eq!(kept[*choice], schema[*choice]);
    }
    // The root must not stay closed if a branch adds properties.
    let closed = json!({"type": "object", "additionalProperties": false, "properties": {}, "anyOf": [{"properties": {"a": {}}}]});
    assert!(
        sent(&closed, Dialect::OpenAi)
            .0
            .get("additionalProperties")
            .is_none()
    );
    let closed = json!({"type": "object", "additionalProperties": false, "properties": {"a": {}}, "anyOf": [{"required": ["a"]}]});
    assert_eq!(
        sent(&closed, Dialect::OpenAi).0["additionalProperties"],
        false
    );
    for other in [
        json!({"type": "object", "enum": [{}]}),
        json!({"type": "object", "not": {"required": ["a"]}}),
    ] {
        let (schema, changes) = sent(&other, Dialect::OpenAi);
        assert_eq!(changes[0].rule, "root-union");
        assert!(schema.get("enum").is_none() && schema.get("not").is_none());
        assert_eq!(sent(&other, Dialect::Anthropic).0, other);
    }
}

// For each provider, a root that is not a plain object is converted to a plain object, or refused if it does not describe one.
#[test]
fn roots_that_are_not_plain_objects_become_one() {
    let referred = json!({"$ref": "#/$defs/args", "description": "own", "$defs": {"args": {"type": "object", "description": "d", "properties": {"a": {}}}}});
    for dialect in [
        Dialect::OpenAi,
        Dialect::Anthropic,
        Dialect::Gemini,
        Dialect::Mcp,
    ] {
        let (schema, changes) = sent(&referred, dialect);
        assert_eq!(schema["type"], "object");
        assert_eq!(schema["description"], "own");
        assert_eq!(schema["properties"], json!({"a": {}}));
        assert!(changes.iter().any(|change| change.rule == "ref-inline"));
        for (untyped, word) in [
            (json!({"properties": {"a": {"type": "string"}}}), "object"),
            (
                json!({"type": ["object", "null"], "properties": {}}),
                "object",
            ),
        ] {
            assert_eq!(sent(&untyped, dialect).0["type"], word);
        }
        for refused in [
            json!({"type": "array"}),
            json!({"$ref": "#/$defs/none"}),
            json!({"$ref": "#"}),
            json!(true),
            json!({"type": ["string", "null"]}),
        ] {
            assert!(
                non_strict(&refused, dialect).is_err(),
                "{} {refused}",
                dialect.name()
            );
        }
    }
    assert_eq!(sent(&referred, Dialect::JsonSchema).0, referred);
}

// Each provider refuses different keywords.
#[test]
fn each_provider_has_its_own_refusals() {
    let schema = json!({"type": "object", "properties": {
        "all": true,
        "none": {"items": false, "type": "array"},
        "map": {"type": "object", "propertyNames": {"pattern": "^x"}, "description": "A map."},
        "tuple": {"type": "array", "items": [{"type": "string"}, {"type": "integer"}], "additionalItems": false},
        "old": {"type": "integer", "minimum": 1, "exclusiveMinimum": true, "maximum": 9, "exclusiveMaximum": false},
        "list": {"type": ["array", "null"]},
        "draft3": {"type": "string", "required": true},
    }});
    let (open_ai, _) = sent(&schema, Dialect::OpenAi);
    let (anthropic, _) = sent(&schema, Dialect::Anthropic);
    for sent in [&open_ai, &anthropic] {
        assert_eq!(sent["properties"]["all"], json!({}));
        assert_eq!(
            sent["properties"]["tuple"]["prefixItems"],
            json!([{"type": "string"}, {"type": "integer"}])
        );
        assert_eq!(sent["properties"]["none"]["items"], json!({"not": {}}));
    }
    assert_eq!(
        open_ai["properties"]["map"],
        json!({"type": "object", "description": "A map.\n`propertyNames`: {\"pattern\":\"^x\"}", "properties": {}})
    );
    assert_eq!(open_ai["properties"]["list"]["items"], json!({}));
    assert_eq!(anthropic["properties"]["map"], schema["properties"]["map"]);
    assert_eq!(
        anthropic["properties"]["old"],
        json!({"type": "integer", "exclusiveMinimum": 1, "maximum": 9})
    );
    assert_eq!(anthropic["properties"]["draft3"], json!({"type": "string"}));
    // The schema for Anthropic is valid in the JSON Schema draft that Anthropic reads.
    jsonschema::draft202012::meta::validate(&anthropic).unwrap();

    let (gemini, _) = sent(
        &json!({"type": "object", "$schema": "x", "x-own": 1, "definitions": {"d": {"type": "string", "pattern": "^a$"}}, "properties": {
            "a": {"$ref": "#/definitions/d"}, "b": {"const": "v"}, "c": {"type": "number", "exclusiveMinimum": 0}, "d": {"enum": ["a", null]},
            "properties": {"type": "string"},
        }}),
        Dialect::Gemini,
    );
    assert_eq!(
        gemini["$defs"]["d"],
        json!({"type": "string", "description": "`pattern`: \"^a$\""})
    );
    assert_eq!(gemini["properties"]["a"], json!({"$ref": "#/$defs/d"}));
    assert_eq!(gemini["properties"]["b"], json!({"enum": ["v"]}));
    assert_eq!(
        gemini["properties"]["c"]["description"],
        "`exclusiveMinimum`: 0"
    );
    assert!(gemini["properties"]["d"].get("enum").is_none());
    assert_eq!(
        gemini["properties"]["properties"],
        json!({"type": "string"})
    );
    assert!(gemini.get("$schema").is_none() && gemini.get("x-own").is_none());

    let odd = json!({"type": "object", "properties": {"x y": {}, "ok": {"type": "object", "properties": {"z z": {}}}}});
    assert_eq!(
        non_strict(&odd, Dialect::Anthropic).unwrap_err()[0].rule,
        "property-key"
    );
    assert!(non_strict(&odd, Dialect::OpenAi).is_ok());
    let deep = (0..100).fold(json!({}), |inner, _| json!({"items": inner}));
    assert_eq!(
        non_strict(
            &json!({"type": "object", "properties": {"a": deep}}),
            Dialect::OpenAi
        )
        .unwrap_err()[0]
            .rule,
        "limit-depth"
    );
}

struct Own(jsonschema::Validator);

impl SchemaCheck for Own {
    fn issues(&self, value: &Value) -> Vec<Issue> {
        let issue = |error: jsonschema::ValidationError<'_>| Issue {
            pointer: error.instance_path().to_string(),
            expected: error.to_string(),
            found: error.instance().to_string(),
        };
        self.0.iter_errors(value).map(issue).collect()
    }
}

fn echo(name: &str, schema: &Value) -> DynamicTool {
    let check = Own(jsonschema::options().build(schema).unwrap());
    DynamicTool::new(name, "Gives back.", schema, |value: Value, _| async move {
        Ok::<_, ToolError>(value.to_string())
    })
    .non_strict(check)
}

// A tool is strict for each provider whose strict mode accepts its schema, and the offer lists the non-strict tools.
#[tokio::test]
async fn tool_is_strict_for_each_provider_that_accepts_its_schema() {
    let map = json!({"type": "object", "properties": {"map": {"type": "object", "additionalProperties": {"type": "integer"}}, "n": {"type": "integer"}}});
    let named = json!({"type": "object", "properties": {"u": {"type": "object", "propertyNames": {"minLength": 2}}}});
    let plain = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": false});
    let registry = Registry::builder()
        .dynamic(echo("map", &map))
        .dynamic(echo("plain", &plain))
        .dynamic(echo("named", &named))
        .build()
        .unwrap();
    let tools = registry.open();
    assert_eq!(tools.get("plain").unwrap().non_strict(), Dialects::NONE);
    let of_map = tools.get("map").unwrap().non_strict();
    assert!(
        of_map.contains(Dialect::OpenAi)
            && of_map.contains(Dialect::Anthropic)
            && !of_map.contains(Dialect::Gemini)
    );
    for provider in Provider::ALL {
        let request = serde_json::to_value(provider.offer(&tools).unwrap()).unwrap();
        let text = request.to_string();
        if provider == Provider::Gemini {
            let mode = &request["toolConfig"]["functionCallingConfig"]["mode"];
            assert_eq!(mode, "AUTO", "{request}");
            let plain = tools.clone().filter(|def| def.name() == "plain");
            let plain = serde_json::to_string(&provider.offer(&plain).unwrap()).unwrap();
            assert!(plain.contains("VALIDATED"), "{plain}");
        } else {
            assert_eq!(text.matches(r#""strict":false"#).count(), 2, "{text}");
            assert_eq!(text.matches(r#""strict":true"#).count(), 1, "{text}");
        }
    }
    // A renamed tool has the same strict mode.
    let renamed = tools.clone().rename([("map", "x_map")]).unwrap();
    assert!(
        renamed
            .get("x_map")
            .unwrap()
            .definition(Dialect::OpenAi)
            .contains(r#""strict":false"#)
    );
    assert_eq!(
        renamed
            .get("x_map")
            .unwrap()
            .parts(Dialect::Anthropic)
            .unwrap()
            .strict,
        Some(false)
    );

    let call = async |name: &str, arguments: &str| {
        tools
            .call(
                ToolCall::new("c", name, arguments),
                &ToolContext::anonymous(),
            )
            .await
    };
    // Valid arguments are passed on unchanged, even if the tree has a different spelling of them.
    for (name, arguments) in [
        ("map", r#"{"n":1,"other":[null,{"k":"v"}]}"#),
        ("map", "{}"),
        ("named", r#"{"u":{"ab":1.5}}"#),
        ("plain", r#"{"n":2}"#),
    ] {
        let result = call(name, arguments).await;
        assert_eq!(result.model_text(), arguments);
        assert!(result.repairs().is_empty());
    }
    // Invalid arguments are repaired if only one correction is possible.
    let repaired = call("map", r#"{"map":{"a":"7"},"n":"3"}"#).await;
    assert_eq!(repaired.model_text(), r#"{"map":{"a":7},"n":3}"#);
    assert_eq!(repaired.repairs().len(), 2);
    // The schema does not admit null for the optional property, so the key is removed.
    assert_eq!(call("map", r#"{"n":null}"#).await.model_text(), "{}");
    for (name, arguments) in [
        ("named", r#"{"u":{"a":1}}"#),
        ("map", r#"{"map":{"a":"x"}}"#),
        ("map", "[]"),
        ("map", r#"{"a":1,"a":2}"#),
        ("map", "{"),
    ] {
        let result = call(name, arguments).await;
        assert_eq!(
            result.error().unwrap().kind(),
            tool_core::ErrorKind::InvalidArguments,
            "{name} {arguments}"
        );
    }
}

// Tool search finds a non-strict tool by parameters that the tree does not represent.
#[test]
fn tools_that_are_not_strict_are_searched_by_their_parameters() {
    let schema = json!({"type": "object", "propertyNames": {"minLength": 2}, "properties": {"aggregation_pipeline": {
        "description": "Stages such as grouping.", "anyOf": [{"enum": ["histogram"]}, {"properties": {"deep": {"description": "Sharding."}}}],
    }}});
    let none = json!({"type": "object", "properties": {}, "additionalProperties": false});
    let registry = Registry::builder()
        .dynamic(echo("a", &schema))
        .dynamic(echo("b", &none));
    let tools = registry.build().unwrap().open();
    let search = tool_core::search::ToolSearch::new(&tools);
    for words in ["aggregation pipeline", "grouping", "histogram", "sharding"] {
        let found = search.find(words, &tools);
        assert_eq!(found.len(), 1, "{words}");
    }
}

// Only strict tools count towards Anthropic's limits.
#[test]
fn tools_that_are_not_strict_do_not_count_as_strict() {
    let map = json!({"type": "object", "properties": {"map": {"type": "object", "additionalProperties": {}}}});
    let tools = (0..60).fold(Registry::builder(), |tools, at| {
        tools.dynamic(echo(&format!("t{at}"), &map))
    });
    let tools = tools.build().unwrap().open();
    assert!(Provider::Anthropic.offer(&tools).is_ok() && Provider::Bedrock.offer(&tools).is_ok());
    // As many tools as Anthropic accepts stay strict; the others become non-strict.
    let optional = json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}, "additionalProperties": false});
    let none = json!({"type": "object", "properties": {}, "additionalProperties": false});
    let tools = (0..30).fold(Registry::builder(), |tools, at| {
        tools.dynamic(echo(
            &format!("t{at:02}"),
            if at % 2 == 0 { &optional } else { &none },
        ))
    });
    let tools = tools.build().unwrap().open();
    let offer = Provider::Anthropic.offer(&tools).unwrap();
    let loose: Vec<&str> = offer.non_strict().collect();
    assert_eq!(loose.len(), 10, "{loose:?}");
    assert!(
        loose
            .iter()
            .all(|name| name[1..].parse::<u32>().unwrap() % 2 == 0),
        "{loose:?}"
    );
    assert_eq!(offer.tools().matches(r#""strict":false"#).count(), 10);
    assert_eq!(
        Provider::Chat.offer(&tools).unwrap().non_strict().count(),
        0
    );
    // The list of tools is unchanged if a tool is removed, and is rebuilt if added tools change the strict mode of others.
    let fewer = offer
        .next(&tools.clone().filter(|def| def.name() != "t00"))
        .unwrap();
    assert_eq!(fewer.tools(), offer.tools());
    let first = Provider::Anthropic
        .offer(&tools.clone().filter(|def| def.name() < "t12"))
        .unwrap();
    assert_eq!(first.non_strict().count(), 0);
    let second = first.next(&tools).unwrap();
    assert!(!second.keeps_prefix() && second.non_strict().count() == 10);
    // A tool without a `SchemaCheck` cannot be non-strict, so its map is refused.
    let strict = DynamicTool::new("m", "Gives back.", &map, |_: Value, _| async {
        Ok::<_, ToolError>(0)
    });
    assert!(Registry::builder().dynamic(strict).build().is_err());
}
