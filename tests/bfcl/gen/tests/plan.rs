//! Tests of the generator: names are mapped and unique, every rule that forbids a definition is reported, and the source is deterministic.

#![allow(clippy::expect_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;

use bfcl_gen::json::Json;
use bfcl_gen::shape::of_parameters;
use bfcl_gen::{SAMPLE, names, plan, render, sample};

fn rules(schema: &str) -> Vec<&'static str> {
    let schema: Json = serde_json::from_str(schema).expect("JSON");
    match of_parameters(&schema) {
        Ok(_) => Vec::new(),
        Err(faults) => faults.into_iter().map(|fault| fault.rule).collect(),
    }
}

fn rules_of_property(property: &str) -> Vec<&'static str> {
    rules(&format!(
        r#"{{"type":"object","properties":{{"a":{property}}}}}"#
    ))
}

#[test]
fn names_of_tools_are_mapped() {
    assert_eq!(names::tool("math.factorial"), "math_factorial");
    assert_eq!(
        names::tool("player_stats.getLastGame"),
        "player_stats_get_last_game"
    );
    assert_eq!(
        names::tool("GameGuideAPI.search_guide"),
        "game_guide_api_search_guide"
    );
    assert_eq!(names::tool("3d.render"), "call_3d_render");
    assert_eq!(names::tool("type"), "type_");
    assert_eq!(names::camel("0-10 scale"), "V010Scale");
    let fields = names::fields(["type", "coolTarget", "cool_target", "_from"].into_iter());
    assert_eq!(fields, ["r#type", "cool_target", "cool_target_2", "from"]);
}

#[test]
fn names_of_tools_are_unique() {
    let lines = sample::read(SAMPLE).expect("the sample");
    let mut seen = BTreeSet::new();
    for definition in plan::plan(&lines) {
        if let Ok(tool) = definition.tool {
            assert!(
                tool.name
                    .bytes()
                    .all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_')),
                "{}",
                tool.name
            );
            assert!(tool.name.len() <= 64, "{}", tool.name);
            assert!(seen.insert(tool.name.clone()), "{}", tool.name);
        }
    }
}

// If two builds of the same sample had different sources, `bfcl` would be compiled again without a reason.
#[test]
fn generated_source_is_deterministic_and_has_each_typed_definition_once() {
    let source = || {
        let definitions = plan::plan(&sample::read(SAMPLE).expect("the sample"));
        (render::render(&definitions), definitions)
    };
    let (text, definitions) = source();
    assert_eq!(text, source().0);
    let mut typed = 0;
    for tool in definitions.iter().filter_map(|one| one.tool.as_ref().ok()) {
        let head = format!("pub async fn {}(", tool.name);
        assert_eq!(text.matches(&head).count(), 1, "{}", tool.name);
        typed += 1;
    }
    assert_eq!(text.matches("\n#[tool(").count(), typed);
    assert_eq!(typed, 397);
}

#[test]
fn broken_rules_are_reported() {
    assert_eq!(rules_of_property("{}"), ["untyped-value"]);
    assert_eq!(rules_of_property(r#"{"type":"object"}"#), ["map-type"]);
    assert_eq!(rules_of_property(r#"{"type":"array"}"#), ["array-no-items"]);
    assert_eq!(
        rules_of_property(r#"{"type":"string","enum":["AA","Aa",""]}"#),
        ["enum-empty-string", "enum-case-only"]
    );
    assert_eq!(
        rules_of_property(r#"{"type":"string","enum":["a",1]}"#),
        ["enum-mixed"]
    );
    assert_eq!(
        rules_of_property(r#"{"type":"string","format":"uri"}"#),
        ["format-uri"]
    );
    assert_eq!(
        rules(r#"{"type":"object","properties":{"a b":{"type":"string"}}}"#),
        ["property-key"]
    );
    assert_eq!(rules(r#"{"type":"string"}"#), ["root-not-object"]);
    assert!(rules_of_property(r#"{"type":"array","items":{"type":"integer"}}"#).is_empty());
}
