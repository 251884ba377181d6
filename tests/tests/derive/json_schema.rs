//! Tests of `#[schema(json_schema)]`, which makes strict types usable inside types of `schemars`.
#![allow(
    clippy::expect_used,
    dead_code,
    reason = "a test fails by panicking; only the schemas of the types are used"
)]

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tool_core::StrictSchema;

#[derive(Serialize, Deserialize, StrictSchema)]
#[schema(json_schema)]
struct Query {
    /// The text to search for.
    #[schema(length = 1..=80)]
    text: String,
    /// The field `limit` of `Query`.
    #[serde(default = "ten")]
    #[schema(default = 10)]
    limit: u32,
    /// The position at which the search starts.
    #[serde(
        rename(serialize = "begin", deserialize = "start"),
        skip_serializing_if = "Option::is_none"
    )]
    start: Option<String>,
}

fn ten() -> u32 {
    10
}

#[derive(Serialize, Deserialize, StrictSchema)]
#[schema(json_schema)]
struct Tree {
    /// The field `name` of `Tree`.
    name: String,
    /// The field `children` of `Tree`.
    children: Vec<Tree>,
}

/// A `schemars` type that contains types of this project.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Around {
    query: Query,
    trees: Vec<Tree>,
}

fn schema<T: JsonSchema>(settings: SchemaSettings) -> Value {
    let schema = settings
        .into_generator()
        .into_root_schema_for::<T>()
        .to_value();
    assert!(jsonschema::draft202012::meta::is_valid(&schema), "{schema}");
    schema
}

// M2: the schemas for reading and for writing differ in the required keys and in the keys of fields with two names.
#[test]
fn read_and_write_schemas_differ_where_the_type_does() {
    let read = schema::<Query>(SchemaSettings::draft2020_12());
    assert_eq!(read["required"], json!(["text"]));
    assert_eq!(read["additionalProperties"], json!(false));
    assert_eq!(read["properties"]["limit"]["default"], json!(10));
    assert_eq!(read["properties"]["text"]["maxLength"], json!(80));
    assert!(read["properties"].get("start").is_some());
    let written = schema::<Query>(SchemaSettings::draft2020_12().for_serialize());
    assert_eq!(written["required"], json!(["text", "limit"]));
    assert!(written["properties"].get("begin").is_some());
}

// M2: the references of a recursive type are valid, both alone and inside another type, and in two drafts of JSON Schema.
#[test]
fn recursive_types_keep_their_references() {
    let tree = json!({"name": "a", "children": [{"name": "b", "children": []}]});
    let wrong = json!({"name": "a", "children": [{"name": 1, "children": []}]});
    for settings in [SchemaSettings::draft2020_12(), SchemaSettings::draft07()] {
        let alone = schema::<Tree>(settings.clone());
        let alone = jsonschema::validator_for(&alone).expect("every reference has a definition");
        assert!(alone.is_valid(&tree) && !alone.is_valid(&wrong));
        let around = schema::<Around>(settings);
        let around = jsonschema::validator_for(&around).expect("every reference has a definition");
        let with = |tree: &Value| json!({"query": {"text": "a"}, "trees": [tree]});
        assert!(around.is_valid(&with(&tree)) && !around.is_valid(&with(&wrong)));
    }
}
