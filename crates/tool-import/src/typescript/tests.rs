//! Tests of TypeScript types for JSON Schemas.

use serde_json::{Value, json};

use super::{ToolTypes, Types, comment, key, module};
use crate::json::Json;

/// Asserts the TypeScript type of a schema, preceded by the types that it refers to.
#[track_caller]
fn declares(schema: &Value, expected: &str) {
    let schema: Json = serde_json::from_str(&schema.to_string()).unwrap();
    let mut types = Types::new("get_it", "Input", &schema);
    let own = types.of(&schema, 0);
    assert_eq!(types.declared("") + &own, expected);
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

/// Returns the zod schema of the root, without its declaration.
fn zod(schema: &Value) -> String {
    let schema: Json = serde_json::from_str(&schema.to_string()).unwrap();
    let text = super::Zod::new("get_it", "Input", &schema, ".optional()").declared();
    let text = text.strip_prefix("export const GetItInputSchema: z.ZodType<GetItInput> = ");
    text.unwrap().trim_end_matches(";\n").to_owned()
}

#[test]
fn constraints_become_zod_checks() {
    for (schema, expected) in [
        (json!({"enum": ["a", "b"]}), r#"z.enum(["a", "b"])"#),
        (
            json!({"enum": ["a", 1, null]}),
            r#"z.union([z.literal("a"), z.literal(1), z.null()])"#,
        ),
        (
            json!({"type": ["integer", "null"], "minimum": 1, "maximum": 50}),
            "z.union([z.int().gte(1).lte(50), z.null()])",
        ),
        // A number of JavaScript cannot represent this bound exactly.
        (
            json!({"type": "integer", "maximum": 18_446_744_073_709_551_615_u64}),
            "z.int()",
        ),
        (
            json!({"type": "string", "minLength": 1, "pattern": "^\\d+$"}),
            r#"z.string().refine(length(1, Infinity), "must have at least 1 characters").regex(new RegExp("^\\d+$", "u"))"#,
        ),
        (
            json!({"type": "array", "items": {"type": "number"}, "minItems": 1, "maxItems": 3}),
            "z.array(z.number()).min(1).max(3)",
        ),
        (
            json!({"type": "array", "prefixItems": [{"type": "string"}]}),
            "z.tuple([z.string()])",
        ),
        (
            json!({"type": "object", "additionalProperties": {"type": "boolean"}}),
            "z.record(z.string(), z.boolean())",
        ),
        (
            json!({"type": "object", "properties": {"a b": {"description": "A."}}, "additionalProperties": true}),
            "z.object({\n  \"a b\": z.unknown().optional().describe(\"A.\"),\n}).catchall(z.unknown())",
        ),
        (
            json!({"allOf": [{"type": "string"}, {"const": "x"}]}),
            r#"z.intersection(z.string(), z.literal("x"))"#,
        ),
        (json!({"anyOf": []}), "z.never()"),
        (json!({"$ref": "#/$defs/Gone"}), "z.unknown()"),
    ] {
        assert_eq!(zod(&schema), expected, "{schema}");
    }
}

#[test]
fn recursive_zod_schemas_refer_to_each_other() {
    let schema = json!({
        "type": "object",
        "properties": {"next": {"anyOf": [{"$ref": "#/$defs/Node"}, {"type": "null"}]}},
        "required": ["next"],
        "additionalProperties": false,
        "$defs": {"Node": {"$ref": "#"}},
    });
    assert_eq!(
        zod(&schema),
        "z.strictObject({\n  next: z.union([z.lazy(() => GetItInputNodeSchema), z.null()]),\n});\nexport const GetItInputNodeSchema: z.ZodType<GetItInputNode> = z.lazy(() => GetItInputSchema)"
    );
}

// Two tools have the same type names if their names are equal, or differ only in separators and in the case of the letters that begin a word.
#[test]
fn tools_with_the_same_type_names_are_refused() {
    let tool = |name: &str| ToolTypes {
        name: name.to_owned(),
        description: String::new(),
        input: Json::Record(Vec::new()),
        output: None,
    };
    for (one, other) in [
        ("get_weather", "get-weather"),
        ("get_weather", "getWeather"),
        ("get_weather", "get_weather"),
    ] {
        let error = module(&[tool(one), tool("other"), tool(other)], true).unwrap_err();
        let text = format!(
            "the tools `{one}` and `{other}` have the same type names, `GetWeatherInput` and `GetWeatherOutput`: rename"
        );
        assert!(error.starts_with(&text), "{error}");
    }
    assert!(module(&[tool("get_weather"), tool("getweather")], true).is_ok());
}
