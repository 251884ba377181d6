//! Tests of TypeScript types for JSON Schemas.

use serde_json::{Value, json};

use super::json::Json;
use super::types::{Types, comment, key};

/// Asserts the TypeScript type of a schema, preceded by the types that it refers to.
#[track_caller]
fn declares(schema: &Value, expected: &str) {
    let schema: Json = serde_json::from_str(&schema.to_string()).unwrap();
    let mut types = Types::new("get_it", "Input", &schema);
    let own = types.of(&schema, 0);
    assert_eq!(types.declared() + &own, expected);
}

#[test]
fn plain_types_and_enums_become_typescript() {
    declares(&json!({"type": "string"}), "string");
    declares(&json!({"type": "integer"}), "number");
    declares(&json!({"type": ["number", "null"]}), "number | null");
    declares(&json!({"type": ["integer", "number"]}), "number");
    declares(
        &json!({"enum": ["a", 1, null, "it's \"b\""]}),
        r#""a" | 1 | null | "it's \"b\"""#,
    );
    declares(&json!({"const": {"a": [true]}}), "{ a: [true] }");
    declares(
        &json!({"anyOf": [{"type": "string"}, {"type": "null"}]}),
        "string | null",
    );
    declares(
        &json!({"allOf": [{"type": "string"}, {"type": "number"}]}),
        "string & number",
    );
    declares(&json!({"oneOf": []}), "never");
    declares(&json!({}), "unknown");
    declares(&json!(true), "unknown");
    declares(&json!({"type": "money"}), "unknown");
}

#[test]
fn lists_and_records_become_typescript() {
    declares(
        &json!({"type": "array", "items": {"type": "string"}}),
        "string[]",
    );
    declares(
        &json!({"type": "array", "items": {"type": ["string", "null"]}}),
        "Array<string | null>",
    );
    declares(&json!({"type": "array"}), "unknown[]");
    declares(
        &json!({"type": "array", "prefixItems": [{"type": "string"}, {"type": "number"}]}),
        "[string, number]",
    );
    declares(
        &json!({"type": "object", "additionalProperties": {"type": "number"}}),
        "Record<string, number>",
    );
    declares(
        &json!({"type": "object", "additionalProperties": false}),
        "{}",
    );
    declares(
        &json!({"type": "object", "properties": {"a-b": {"type": "boolean", "description": "Ends */ here."}}, "required": [], "additionalProperties": true}),
        "{\n  /** Ends *\\/ here. */\n  \"a-b\"?: boolean;\n  [key: string]: unknown;\n}",
    );
}

#[test]
fn references_become_named_types_once() {
    declares(
        &json!({"type": "object", "properties": {"next": {"$ref": "#"}}, "required": ["next"]}),
        "type GetItInput = {\n  next: GetItInput;\n};\n{\n  next: GetItInput;\n}",
    );
    declares(
        &json!({"$ref": "#/$defs/A", "$defs": {"A": {"type": "array", "items": {"$ref": "#/$defs/B"}}, "B": {"$ref": "#/$defs/A", "description": "Again."}}}),
        "type GetItInputA = GetItInputB[];\n/** Again. */\ntype GetItInputB = GetItInputA;\nGetItInputA",
    );
    declares(&json!({"$ref": "#/$defs/Gone"}), "unknown");
    let deep = (0..50).fold(
        json!({"type": "string"}),
        |inner, _| json!({"type": "object", "properties": {"a": inner}}),
    );
    let schema: Json = serde_json::from_str(&deep.to_string()).unwrap();
    assert!(Types::new("deep", "Input", &schema).of(&schema, 0).len() < 10_000);
}

#[test]
fn keys_and_comments_are_well_formed() {
    assert_eq!(
        (key("plain_1"), key("1st"), key(""), key("a b")),
        (
            "plain_1".into(),
            "\"1st\"".into(),
            "\"\"".into(),
            "\"a b\"".into()
        )
    );
    assert_eq!(comment("", 1), "");
    assert_eq!(
        comment("One.\n\nTwo.", 1),
        "  /**\n   * One.\n   *\n   * Two.\n   */\n"
    );
}
