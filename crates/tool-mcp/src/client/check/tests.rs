use std::time::Instant;

use serde_json::json;

use super::*;

fn compiled(schema: &Value) -> Checked {
    Checked::compile(schema).unwrap_or_else(|fault| panic!("{fault}: {schema}"))
}

fn why(schema: &Value) -> String {
    Checked::compile(schema).unwrap_err().to_string()
}

// References to files or addresses are refused, and nothing is fetched.
#[test]
fn references_outside_the_schema_are_refused() {
    for to in [
        "https://example.com/schema.json",
        "http://127.0.0.1:1/x",
        "file:///etc/passwd",
        "other.json",
        "/etc/passwd",
        "urn:x:y",
        "other.json#/a",
    ] {
        for schema in [
            json!({"$ref": to}),
            json!({"type": "object", "properties": {"a": {"items": {"$ref": to}}}}),
            json!({"$defs": {"unused": {"$ref": to}}, "type": "object"}),
        ] {
            let why = why(&schema);
            assert!(why.contains("fetched"), "{to}: {why}");
        }
    }
    for schema in [
        json!({"$ref": "#/$defs/none"}),
        json!({"$ref": "#none"}),
        json!({"properties": {"a": {"$dynamicRef": "#x"}}}),
        json!({"properties": {"a": {"$id": "https://example.com/a", "$ref": "#/b"}}}),
    ] {
        assert!(why(&schema).contains("[ref-target]"), "{schema}");
    }
    assert!(why(&json!({"$schema": "https://example.com/own"})).contains("[schema]"));
}

// Each reason is the message of its rule.
#[test]
fn each_refusal_has_the_message_of_its_rule() {
    let long = json!({"description": "x".repeat(MOST_BYTES)});
    let bytes = long.to_string().len();
    let many: serde_json::Map<String, Value> = (0..10_001)
        .map(|at| (format!("p{at}"), json!({})))
        .collect();
    let here = |depth: usize| (0..depth).fold(json!({}), |inner, _| json!({"not": inner}));
    let chain: serde_json::Map<String, Value> = (0..100)
        .map(|at| {
            let next = json!({"items": {"$ref": format!("#/$defs/d{}", (at + 1) % 100)}});
            (
                format!("d{at}"),
                (0..30).fold(next, |inner, _| json!({"items": inner})),
            )
        })
        .collect();
    for (schema, expected) in [
        (
            long,
            &*format!(
                "`/`: [limit-size] the schema has {bytes} bytes, and at most 262144 are allowed"
            ),
        ),
        (
            json!({"properties": many}),
            "`/`: [limit-size] the schema contains more than 10000 subschemas",
        ),
        (
            here(40),
            "`/`: [limit-size] too many subschemas apply to the same value, nest `anyOf`, `allOf`, `oneOf` and `not` less deeply",
        ),
        (
            json!({"$ref": "#/$defs/d0", "$defs": chain}),
            "`/`: [limit-depth] too many schemas are nested in each other or refer to each other",
        ),
        (
            json!({"$ref": "#"}),
            "`/`: [recursive-type] a `$ref` leads back to its own schema without a property or an item in between, put one in between",
        ),
        (
            json!({"$ref": "other.json"}),
            "`/`: [ref-target] `other.json` is outside of this schema, and nothing is fetched: write the definition under `$defs`",
        ),
        (
            json!({"properties": {"a": {"$id": "https://example.com/a"}}}),
            "`/properties/a`: [ref-target] a schema within the schema has an `$id`, which is not supported: refer to it by its JSON pointer, such as `#/$defs/name`",
        ),
        (
            json!({"type": "date"}),
            "`/type`: [schema] values cannot be validated against the schema: \"date\" is not valid under any of the schemas listed in the 'anyOf' keyword",
        ),
    ] {
        assert_eq!(why(&schema), expected);
    }
}

// A schema that is too deep, too large or infinite is refused with its reason.
#[test]
fn schemas_beyond_the_limits_are_refused() {
    let nested = |depth: usize| (0..depth).fold(json!({}), |inner, _| json!({"items": inner}));
    compiled(&nested(60));
    assert!(why(&nested(70)).contains("[limit-depth]"));
    let long = json!({"description": "x".repeat(MOST_BYTES)});
    assert!(why(&long).contains("[limit-size]"));
    for cycle in [
        json!({"$ref": "#"}),
        json!({"properties": {"a": {"$ref": "#/$defs/b"}}, "$defs": {"b": {"anyOf": [{"$ref": "#/$defs/c"}]}, "c": {"not": {"$ref": "#/$defs/b"}}}}),
        json!({"allOf": [{"if": {"$ref": "#"}}]}),
    ] {
        assert!(
            why(&cycle).contains("leads back to its own schema"),
            "{cycle}"
        );
    }
    // Each definition applies the next definition to the value twice.
    let mut bomb = json!({"$ref": "#/$defs/d0", "$defs": {"d40": {}}});
    for at in 0..40 {
        let next = json!({"$ref": format!("#/$defs/d{}", at + 1)});
        bomb["$defs"][format!("d{at}")] = json!({"allOf": [next, next]});
    }
    assert!(
        why(&bomb).contains("too many subschemas apply"),
        "{}",
        why(&bomb)
    );
    // The chain of references is nearly as long as the size limit allows.
    for link in [json!({}), json!({"type": "object"})] {
        let mut chain =
            json!({"properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": {"d6000": link}});
        for at in 0..6000 {
            let next = json!({"$ref": format!("#/$defs/d{}", at + 1)});
            let next = if link == json!({}) {
                next
            } else {
                json!({"properties": {"a": next}})
            };
            chain["$defs"][format!("d{at}")] = next;
        }
        assert!(why(&chain).contains("limit-"), "{}", why(&chain));
    }
    assert!(why(&json!({"pattern": "(a{1000}){1000}"})).contains("[schema]"));
    assert!(why(&json!({"pattern": "(?=a)b"})).contains("[schema]"));
    assert!(why(&json!({"type": "no such type"})).contains("[schema]"));
}

#[test]
fn a_long_chain_within_the_bounds_is_compiled_and_used() {
    let mut chain = json!({"$ref": "#/$defs/d0", "$defs": {"d900": {"type": "integer"}}});
    for at in 0..900 {
        let next = json!({"$ref": format!("#/$defs/d{}", at + 1)});
        chain["$defs"][format!("d{at}")] = json!({"properties": {"a": next}});
    }
    let checked = compiled(&chain);
    let value = |inner: Value| (0..100).fold(inner, |inner, _| json!({"a": inner}));
    assert_eq!(checked.issues(&value(json!({}))), []);
}

// A value cannot make a validation take exponential time.
#[test]
fn values_that_take_too_long_are_refused() {
    let twice = json!({"anyOf": [
        {"properties": {"a": {"$ref": "#"}}, "required": ["z"]},
        {"properties": {"a": {"$ref": "#"}}, "required": ["y"]},
        {"type": "integer"},
    ]});
    let checked = compiled(&twice);
    let deep = (0..100).fold(json!(1), |inner, _| json!({"a": inner}));
    let start = Instant::now();
    let issues = checked.issues(&deep);
    assert!(issues[0].found.contains("too long"), "{issues:?}");
    assert!(start.elapsed().as_secs() < 5, "{:?}", start.elapsed());
    assert_eq!(checked.issues(&json!(3)), []);
    // For a normal recursive schema, the number of steps is proportional to the size of the value.
    let tree = json!({"$ref": "#/$defs/filter", "$defs": {"filter": {"anyOf": [
        {"type": "object", "properties": {"and": {"type": "array", "items": {"$ref": "#/$defs/filter"}}}, "required": ["and"], "additionalProperties": false},
        {"type": "object", "properties": {"or": {"type": "array", "items": {"$ref": "#/$defs/filter"}}}, "required": ["or"], "additionalProperties": false},
        {"type": "object", "properties": {"is": {"type": "string"}}, "required": ["is"], "additionalProperties": false},
    ]}}});
    let checked = compiled(&tree);
    let deep = (0..40).fold(json!({"is": "x"}), |inner, at| {
        if at % 2 == 0 {
            json!({"and": [inner]})
        } else {
            json!({"or": [inner, {"is": "y"}]})
        }
    });
    assert_eq!(checked.issues(&deep), []);
    let wide = json!({"and": vec![json!({"is": "x"}); 20_000]});
    assert_eq!(checked.issues(&wide), []);
}

#[test]
fn issues_contain_pointer_expected_and_found() {
    let schema = json!({
        "type": "object",
        "required": ["collection", "a/b"],
        "additionalProperties": false,
        "properties": {
            "collection": {"type": "string", "minLength": 1},
            "limit": {"type": "integer", "minimum": 1, "maximum": 10},
            "a/b": {"enum": ["x", 1]},
            "parent": {"anyOf": [
                {"type": "object", "required": ["page_id"], "properties": {"type": {"const": "page"}, "page_id": {"type": "string"}}},
                {"type": "string"},
            ]},
            "filter": {"type": "object", "propertyNames": {"pattern": "^[a-z]+$"}},
        },
    });
    let checked = compiled(&schema);
    let errors = |value: Value| {
        let issues = checked.issues(&value);
        let lines = issues
            .iter()
            .map(|issue| format!("{}: {} / {}", issue.pointer, issue.expected, issue.found));
        lines.collect::<Vec<_>>().join("\n")
    };
    assert_eq!(
        errors(json!({"collection": "a", "a/b": 1, "filter": {"a": []}, "parent": "x"})),
        ""
    );
    assert_eq!(
        errors(json!({"collection": "a"})),
        "/a~1b: a value, which is required / nothing: the key is missing"
    );
    assert_eq!(
        errors(json!({"collection": 7, "a/b": "x"})),
        "/collection: text / 7"
    );
    assert_eq!(
        errors(json!({"collection": "a", "a/b": "y", "limit": 11})),
        "/a~1b: one of [\"x\",1] / \"y\"\n/limit: a number of at most 10 / 11"
    );
    assert_eq!(
        errors(json!({"collection": "a", "a/b": "x", "parent": {"type": "page"}})),
        "/parent/page_id: a value, which is required / nothing: the key is missing"
    );
    assert_eq!(
        errors(json!({"collection": "a", "a/b": "x", "parent": 7})),
        "/parent: a value that matches one of the 2 alternatives of the schema / 7"
    );
    assert_eq!(
        errors(json!({"collection": "a", "a/b": "x", "more": {"k": 1}})),
        "/more: no key `more`, which the schema does not allow / {\"k\":1}"
    );
    assert!(
        errors(json!({"collection": "a", "a/b": "x", "filter": {"A1": 1}}))
            .contains("/filter: an object whose keys are all valid")
    );
    let many: serde_json::Map<String, Value> =
        (0..100).map(|at| (format!("k{at}"), json!(1))).collect();
    assert!(checked.issues(&Value::Object(many)).len() <= MOST_ISSUES);
}
