//! JSON Schemas that are read at run time.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::needless_pass_by_value,
    clippy::items_after_statements,
    reason = "a test fails by panicking, and is easier to read with its data inline"
)]

use serde_json::{Value, json};
use tool_core::schema::dialect::Dialect;
use tool_core::schema::dynamic::{DynSchema, KEPT_LIMIT, Target, judge, read, read_text};

fn taken(schema: &Value) -> DynSchema {
    read(schema).unwrap_or_else(|faults| panic!("{faults:?}"))
}

/// Returns the schema of arguments with one required property `x`.
fn arguments(x: Value) -> Value {
    json!({"type": "object", "properties": {"x": x}, "required": ["x"], "additionalProperties": false})
}

/// Reads the property `x` and returns it as plain JSON Schema.
fn spelled(x: Value) -> Value {
    let text = taken(&arguments(x)).text(Dialect::JsonSchema);
    let schema: Value = serde_json::from_str(&text).expect("the text is JSON");
    schema["properties"]["x"].clone()
}

fn rule(x: Value) -> Vec<&'static str> {
    let faults = read(&arguments(x)).expect_err("the schema cannot be read");
    faults.iter().map(|fault| fault.rule).collect()
}

// M2: typical schemas of MCP servers can be read.
#[test]
fn schemas_of_typical_servers_can_be_read() {
    let text = |extra: Value| {
        let mut schema = json!({"type": "string"});
        schema
            .as_object_mut()
            .expect("the schema is an object")
            .extend(
                extra
                    .as_object()
                    .expect("the addition is an object")
                    .clone(),
            );
        schema
    };
    assert_eq!(
        spelled(text(json!({"title": "T", "$comment": "c", "x-order": 1}))),
        json!({"type": "string"})
    );
    assert_eq!(
        spelled(text(json!({"minLength": 2, "pattern": "^a"}))),
        json!({"type": "string", "minLength": 2, "pattern": "^a"})
    );
    assert_eq!(
        spelled(text(json!({"format": "date"}))),
        json!({"type": "string", "format": "date"})
    );
    assert_eq!(
        spelled(text(json!({"format": "iri"}))),
        json!({"type": "string", "description": "Format: iri."})
    );
    assert_eq!(
        spelled(text(
            json!({"format": "uri", "description": "The address of the page."})
        )),
        json!({"type": "string", "description": "The address of the page. A URL."})
    );
    assert_eq!(
        spelled(json!({"const": "v1"})),
        json!({"type": "string", "enum": ["v1"]})
    );
    assert_eq!(
        spelled(json!({"oneOf": [{"const": "a", "description": "First."}, {"const": "b"}]})),
        json!({"type": "string", "enum": ["a", "b"], "description": "- `a`: First."})
    );
    assert_eq!(
        spelled(json!({"enum": [1, 2]})),
        json!({"type": "integer", "enum": [1, 2]})
    );
    assert_eq!(
        spelled(json!({"oneOf": [{"const": 1, "description": "First."}, {"const": 2}]})),
        json!({"type": "integer", "enum": [1, 2], "description": "- `1`: First."})
    );
    assert_eq!(
        spelled(
            json!({"allOf": [{"properties": {"a": {"type": "boolean"}}, "required": ["a"]}, {"type": "object", "properties": {"b": {"type": "boolean"}}, "required": ["b"]}]})
        ),
        json!({"type": "object", "properties": {"a": {"type": "boolean"}, "b": {"type": "boolean"}}, "required": ["a", "b"], "additionalProperties": false})
    );
    assert_eq!(
        spelled(
            json!({"type": "object", "propertyNames": {"type": "string"}, "additionalProperties": {"type": "boolean"}})
        ),
        json!({"type": "object", "additionalProperties": {"type": "boolean"}})
    );
    assert_eq!(
        spelled(
            json!({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]})
        ),
        json!({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]})
    );
}

// S1-28: four spellings of an optional property are read as the same schema.
#[test]
fn spellings_of_an_optional_property_are_read_as_one_schema() {
    let plain = json!({"type": "string"});
    for spelling in [
        json!({"type": ["string", "null"]}),
        json!({"anyOf": [{"type": "string"}, {"type": "null"}]}),
        json!({"oneOf": [{"type": "null"}, {"type": "string"}]}),
        json!({"type": "string", "nullable": true}),
    ] {
        let schema = taken(&arguments(spelling));
        let text: Value =
            serde_json::from_str(&schema.text(Dialect::JsonSchema)).expect("the schema is JSON");
        assert_eq!(text["properties"]["x"], plain);
        assert_eq!(text["required"], json!([]));
        let openai: Value =
            serde_json::from_str(&schema.text(Dialect::OpenAi)).expect("the schema is JSON");
        assert_eq!(
            openai["properties"]["x"],
            json!({"type": ["string", "null"]})
        );
        assert_eq!(openai["required"], json!(["x"]));
    }
}

// S1-28: arguments are sent to the server in the spelling of its schema.
#[test]
fn arguments_are_sent_in_the_spelling_of_the_server() {
    let schema = taken(&json!({
        "type": "object",
        "properties": {
            "left_out": {"type": "string"},
            "null": {"type": ["string", "null"]},
            "either": {"type": ["string", "null"]},
            "node": {"$ref": "#/$defs/N"},
            "shape": {"anyOf": [
                {"type": "object", "properties": {"kind": {"const": "a"}, "n": {"type": "integer"}}, "required": ["kind"]},
                {"type": "object", "properties": {"kind": {"const": "b"}}, "required": ["kind"]},
            ]},
        },
        "required": ["null", "node", "shape"],
        "$defs": {"N": {"type": "object", "properties": {"next": {"$ref": "#/$defs/N"}, "v": {"type": "integer"}}}},
    }));
    let mut sent = json!({
        "left_out": null,
        "either": null,
        "node": {"next": {"next": {"next": null, "v": 1}, "v": null}, "v": 2},
        "shape": {"kind": "a", "n": null},
    });
    schema.restore(&mut sent);
    let expected = json!({"either": null, "null": null, "node": {"next": {"next": {"v": 1}}, "v": 2}, "shape": {"kind": "a"}});
    assert_eq!(sent, expected);
}

// M2: keywords that the tree cannot express are refused, each with its rule.
#[test]
fn keywords_that_the_tree_cannot_express_are_refused() {
    assert_eq!(rule(json!({"not": {"type": "string"}})), ["conditional"]);
    assert_eq!(
        rule(json!({"type": "array", "items": {"type": "string"}, "contains": {"const": "x"}})),
        ["contains"]
    );
    assert_eq!(
        rule(json!({"type": "object", "patternProperties": {"^a": {"type": "string"}}})),
        ["pattern-properties"]
    );
    assert_eq!(
        rule(json!({"type": "object", "propertyNames": {"pattern": "^a"}})),
        ["property-names"]
    );
    assert_eq!(rule(json!({"enum": [1, "a"]})), ["enum-mixed"]);
    assert_eq!(rule(json!({"enum": [{"a": 1}]})), ["enum-complex"]);
    assert_eq!(rule(json!({"enum": []})), ["enum-empty"]);
    assert_eq!(rule(json!({"$ref": "#/$defs/Nope"})), ["ref-target"]);
    assert_eq!(
        rule(json!({"$ref": "https://example.com/schema.json"})),
        ["ref-target"]
    );
    assert_eq!(
        rule(json!({"allOf": [{"type": "string"}, {"type": "integer"}]})),
        ["all-of"]
    );
    assert_eq!(
        rule(json!({"type": "array", "prefixItems": [{"type": "string"}]})),
        ["tuple"]
    );
    assert_eq!(rule(json!({"type": "date"})), ["untyped-value"]);
    assert_eq!(
        rule(
            json!({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": {"type": "string"}})
        ),
        ["map-type"]
    );
    let one = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]});
    let more = json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}, "required": ["a"]});
    assert_eq!(rule(json!({"oneOf": [one, more]})), ["union-overlap"]);
    for (schema, expected) in [
        (json!({"type": "string"}), "root-not-object"),
        (json!({}), "root-not-object"),
        (
            json!({"oneOf": [{"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}, {"type": "object", "properties": {"b": {"type": "string"}}, "required": ["b"]}]}),
            "root-union",
        ),
    ] {
        let faults = read(&schema).expect_err("the schema cannot be read");
        assert_eq!(
            faults.iter().map(|fault| fault.rule).collect::<Vec<_>>(),
            [expected],
            "{schema}"
        );
    }
}

// M2, S1-29: a schema is refused for the providers that cannot express it.
#[test]
fn dialects_refuse_what_they_cannot_express() {
    let rules = |schema: &Value, dialect| -> Vec<&'static str> {
        taken(schema)
            .faults(dialect)
            .iter()
            .map(|fault| fault.rule)
            .collect()
    };
    let map = arguments(json!({"type": "object", "additionalProperties": {"type": "string"}}));
    assert!(rules(&map, Dialect::OpenAi).contains(&"map-type"));
    assert!(rules(&map, Dialect::Anthropic).contains(&"map-type"));
    assert!(rules(&map, Dialect::Gemini).is_empty());
    assert!(rules(&map, Dialect::Mcp).is_empty());
    let any = arguments(json!(true));
    assert_eq!(rules(&any, Dialect::OpenAi), ["untyped-value"]);
    let plain = arguments(json!({"type": "integer", "minimum": 3, "format": "int64"}));
    for dialect in Dialect::ALL {
        assert!(rules(&plain, dialect).is_empty(), "{dialect:?}");
    }
    let recursive = json!({
        "type": "object",
        "properties": {"node": {"$ref": "#/definitions/N"}},
        "required": ["node"],
        "definitions": {"N": {"type": "object", "properties": {"next": {"$ref": "#/definitions/N"}}}},
    });
    assert!(rules(&recursive, Dialect::OpenAi).is_empty());
    assert_eq!(rules(&recursive, Dialect::Anthropic), ["recursive-type"]);
}

// M2: the tree of a known schema is reused, and the reader ends with an error for every schema that is too large or endless.
#[test]
fn oversized_and_endless_schemas_are_refused() {
    let text = r#"{"type":"object","properties":{"b":{"type":"string"},"a":{"type":"string"}}}"#;
    let first = read_text(text).expect("the schema can be read");
    let again = read_text(&format!(" {text} ")).expect("the same schema can be read");
    assert!(
        core::ptr::eq(first.schema(), again.schema()),
        "the tree was created twice"
    );
    assert_eq!(first.original(), text);
    let order = first.text(Dialect::OpenAi);
    assert!(
        order.find("\"b\"") < order.find("\"a\""),
        "the order of the keys was lost: {order}"
    );

    // This schema is larger than the limit of all cached schemas together. It is refused and not cached, so that the cache still has room for other
    // schemas.
    let large = json!({"type": "object", "description": "x".repeat(KEPT_LIMIT), "properties": {}});
    assert_eq!(
        read(&large).expect_err("the schema is too large")[0].rule,
        "limit-kept"
    );
    read(&json!({"type": "object", "properties": {}}))
        .expect("the cache has room for a small schema");

    // Each definition refers to the next one ten times.
    let mut definitions = serde_json::Map::new();
    for level in 0..20 {
        let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
        let properties: serde_json::Map<String, Value> = (0..10)
            .map(|key| (format!("k{key}"), next.clone()))
            .collect();
        definitions.insert(
            format!("d{level}"),
            json!({"type": "object", "properties": properties}),
        );
    }
    definitions.insert("d20".into(), json!({"type": "string"}));
    let bomb = json!({"type": "object", "properties": {"x": {"$ref": "#/$defs/d0"}}, "$defs": definitions});
    let faults = read(&bomb).expect_err("the schema is too large");
    assert_eq!(faults[0].rule, "limit-size");

    let loop_of_references = json!({"type": "object", "properties": {"x": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}});
    assert_eq!(
        read(&loop_of_references).expect_err("the reference leads only to itself")[0].rule,
        "ref-target"
    );
    let merged_with_itself = json!({"type": "object", "properties": {"x": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"allOf": [{"$ref": "#/$defs/a"}, {"type": "object"}]}}});
    assert!(read(&merged_with_itself).is_err());

    // The chain of references is deeper than the nesting limit of JSON.
    let mut chain = serde_json::Map::new();
    for level in 0..500 {
        chain.insert(
            format!("d{level}"),
            json!({"type": "array", "items": {"$ref": format!("#/$defs/d{}", level + 1)}}),
        );
    }
    chain.insert("d500".into(), json!({"type": "string"}));
    let deep =
        json!({"type": "object", "properties": {"x": {"$ref": "#/$defs/d0"}}, "$defs": chain});
    assert_eq!(
        read(&deep).expect_err("the schema is too deep")[0].rule,
        "limit-size"
    );
    let twice = |name: &str| json!({"allOf": [{"$ref": format!("#/$defs/{name}")}, {"$ref": format!("#/$defs/{name}")}]});
    let many: serde_json::Map<String, Value> = (0..40)
        .map(|level| (format!("m{level}"), twice(&format!("m{}", level + 1))))
        .collect();
    assert!(
        read(
            &json!({"type": "object", "properties": {"x": {"$ref": "#/$defs/m0"}}, "$defs": many})
        )
        .is_err()
    );
}

// M2: more than 95 % of the real-world schemas can be offered in every dialect after lowering. OpenAI's strict mode accepts none of them unchanged.
#[test]
fn most_real_world_schemas_fit_every_dialect() {
    let mut refused = 0;
    let mut count = 0;
    for line in include_str!("../../bfcl/gen/data/bfcl-sample.jsonl").lines() {
        let case: Value = serde_json::from_str(line).expect("the data is JSON");
        let schema = &case["function"]["parameters"];
        assert!(!judge(schema).accepts(Target::OpenAi));
        let faults: Vec<_> = Dialect::ALL
            .into_iter()
            .flat_map(|dialect| taken(schema).faults(dialect))
            .collect();
        let open = ["map-type", "untyped-value", "zero-args"];
        assert!(
            faults.iter().all(|fault| open.contains(&fault.rule)),
            "{faults:?}"
        );
        refused += usize::from(!faults.is_empty());
        count += 1;
    }
    assert!(
        count > 1000 && refused * 20 < count,
        "{refused} of {count} are refused in some dialect"
    );
}

// M2: rules that no labelled case breaks are reported.
#[test]
fn rules_without_a_labelled_case_are_reported() {
    let object = |property: Value| {
        json!({
            "type": "object",
            "properties": { "a": property },
            "required": ["a"],
            "additionalProperties": false,
        })
    };
    let mut unknown = object(json!({ "type": "string" }));
    unknown["required"] = json!(["a", "b"]);
    let mut unevaluated = object(json!({ "type": "string" }));
    unevaluated["unevaluatedProperties"] = json!(false);
    for (rule, schema) in [
        ("required-unknown", unknown),
        ("unevaluated", unevaluated),
        (
            "min-items-over-1",
            object(json!({ "type": "array", "items": { "type": "string" }, "minItems": 2 })),
        ),
        (
            "examples-keyword",
            object(json!({ "type": "string", "examples": ["x"] })),
        ),
    ] {
        let verdicts = judge(&schema);
        assert!(
            verdicts.faults().iter().any(|fault| fault.rule == rule),
            "{rule}: {:?}",
            verdicts.faults()
        );
    }
}
