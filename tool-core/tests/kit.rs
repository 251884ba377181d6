//! The test kit, run on tools that satisfy it and on tools that do not.
//!
//! This test is a separate program, because it tests every linked tool and the number of linked tools.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use serde_json::{Value, json};
use tool_core::prelude::*;
use tool_core::testing::{self, invalid_inputs, valid_inputs};
use tool_core::{DynamicTool, Registry};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, StrictSchema)]
#[serde(rename_all = "snake_case")]
enum Lang {
    /// The language Rust.
    Rust,
    /// The language C.
    C,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, StrictSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Shape {
    /// A circle with a radius.
    Circle {
        /// The radius of the circle.
        #[schema(range = 0.5..=100.0)]
        radius: f64,
    },
    /// A shape with corners.
    Polygon {
        /// The corners of the shape.
        #[schema(max_items = 5, min_items = 3)]
        corners: Vec<i32>,
    },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, StrictSchema)]
struct Filter {
    /// The language of the project.
    lang: Lang,
    /// The tags of the project.
    tags: Vec<String>,
    /// The slug of the project.
    #[schema(pattern = "^[a-z][a-z0-9-]{0,20}$")]
    slug: String,
    /// An even number of results.
    #[schema(range = 2..=10, multiple_of = 2)]
    even: Option<u8>,
    /// A set of texts without repetitions.
    once: std::collections::BTreeSet<String>,
}

/// Takes arguments of many types.
#[tool(
    example("Short", { "name": "a", "filter": { "lang": "rust", "tags": [], "slug": "a-1", "even": null, "once": [] }, "shape": { "kind": "circle", "radius": 2 }, "letter": "x" }),
)]
async fn everything(
    /// The name to search for.
    #[arg(length = 1..=8)]
    name: String,
    /// The number of results.
    #[arg(default = 10, range = 1..=50)]
    limit: u32,
    /// The first letter of the results.
    letter: char,
    /// The time, as text.
    #[arg(format = "date-time")]
    when: Option<String>,
    /// A filter for the results.
    filter: Filter,
    /// The shape of the results.
    shape: Option<Shape>,
    /// Three flags for this test.
    three: Option<[bool; 3]>,
    /// A number of 64 bits.
    big: Option<u64>,
) -> String {
    format!("{name}{limit}{letter}{when:?}{filter:?}{shape:?}{three:?}{big:?}")
}

/// Takes no arguments.
#[tool]
async fn nothing() -> String {
    String::new()
}

fn def(name: &str) -> tool_core::ToolDef {
    Registry::linked().unwrap().get(name).unwrap().clone()
}

// S1-30: the linked tools are found, and none of them has a violation.
#[test]
fn linked_tools_are_strict() {
    testing::assert_strict_all();
    assert_eq!(testing::linked().len(), 4);
}

/// Waits for a time, which is a string in the schema.
#[tool]
async fn wait(
    /// The time to wait.
    time: std::time::Duration,
    /// An additional time to wait.
    more: Option<std::time::Duration>,
) -> String {
    format!("{time:?} {more:?}")
}

/// Measures a dose in steps of a tenth.
#[tool]
async fn dose(
    /// The dose in grams.
    #[arg(multiple_of = 0.1)]
    grams: f64,
    /// The dose per hour, if it is limited.
    #[arg(range = 0.25..=0.95, multiple_of = 0.1)]
    hourly: Option<f64>,
) -> String {
    format!("{grams} {hourly:?}")
}

// S1-30, S1-64: the whole kit passes for every linked tool. An earlier kit generated `PT0.5S`, which a tool with a `Duration` refused.
#[test]
fn linked_tools_pass_the_test_kit() {
    tool_core::assert_tools!();
}

// S1-30: the test kit fails if there is no tool to test.
#[test]
#[should_panic(expected = "there is no tool to test")]
fn test_kit_fails_without_tools() {
    testing::assert_kept(&[], &testing::violations);
}

// S0-07: generated inputs are the same for the same seed, differ between seeds, and include the bounds.
#[test]
fn valid_inputs_are_generated_from_the_types() {
    let def = def("everything");
    let inputs = valid_inputs(&def, 7, 200);
    assert_eq!(inputs.len(), 200);
    assert_eq!(inputs, valid_inputs(&def, 7, 200));
    assert_ne!(inputs, valid_inputs(&def, 8, 200));
    let some = |path: &str, want: Value| {
        inputs
            .iter()
            .any(|input| input.pointer(path) == Some(&want))
    };
    assert!(some("/limit", json!(1)) && some("/limit", json!(50)) && some("/limit", Value::Null));
    assert!(some("/filter/even", json!(2)) && some("/filter/even", json!(10)));
    assert!(some("/shape/radius", json!(0.5)) && some("/shape/kind", json!("polygon")));
    assert!(some("/big", json!(u64::MAX)));
    assert!(inputs.iter().any(|input| input.get("when").is_none()));
    for input in &inputs {
        let length = input["name"].as_str().unwrap().chars().count();
        assert!((1..=8).contains(&length));
    }
    assert_eq!(valid_inputs(&self::def("nothing"), 0, 5), [json!({})]);
}

// S0-07: generated multiples of a fraction are accepted, although the product of doubles is rounded: 3 × 0.1 is 0.30000000000000004.
#[tokio::test]
async fn generated_multiples_of_a_fraction_are_accepted() {
    let tools = Registry::linked().unwrap().open();
    let inputs = valid_inputs(&def("dose"), 0, 30);
    assert!(inputs.len() > 20, "{inputs:?}");
    for input in &inputs {
        let call = ToolCall::new("c1", "dose", input.to_string());
        let result = tools.call(call, &ToolContext::anonymous()).await;
        assert!(!result.is_error(), "{input}: {}", result.model_text());
    }
    for key in ["grams", "hourly"] {
        assert!(inputs.iter().any(|input| input[key] == json!(0.3)), "{key}");
    }
}

// S0-07, S4-61: the invalid inputs contain the listed faults, and the dispatcher refuses every invalid input.
#[tokio::test]
async fn invalid_inputs_are_generated_from_the_types() {
    let corpus = invalid_inputs(&def("everything"));
    for (pointer, why) in [
        ("", "the text is cut off"),
        ("", "a key is unknown"),
        ("", "`name` is absent"),
        ("", "a key is repeated"),
        ("/name", "a text is too long"),
        ("/name", "a text is too short"),
        ("/name", "`name` is null"),
        ("/limit", "a whole number is beyond its range"),
        ("/limit", "a whole number has a fraction"),
        ("/filter", "`lang` is absent"),
        ("/filter", "a key is unknown"),
        (
            "/filter/slug",
            "a text does not match `^[a-z][a-z0-9-]{0,20}$`",
        ),
        ("/three", "a list is too long"),
        ("/when", "a text does not match its format"),
    ] {
        assert!(
            corpus
                .iter()
                .any(|invalid| invalid.pointer == pointer && invalid.why == why),
            "{pointer} {why}"
        );
    }
    let (tools, cx) = (
        Registry::linked().unwrap().open().repair(Repair::Off),
        ToolContext::anonymous(),
    );
    for invalid in corpus {
        let result = tools
            .call(ToolCall::new("1", "everything", &invalid.input), &cx)
            .await;
        let error = result
            .error()
            .unwrap_or_else(|| panic!("{} is accepted, although {}", invalid.input, invalid.why));
        assert_eq!(error.kind(), tool_core::ErrorKind::InvalidArguments);
        assert!(!error.issues().is_empty(), "{}", invalid.input);
    }
}

// S1-30: the kit reports a tool that refuses inputs which its schema allows.
#[test]
fn test_kit_reports_a_tool_that_refuses_valid_inputs() {
    #[derive(Deserialize)]
    struct Picky {
        #[expect(dead_code, reason = "only read")]
        number: u8,
    }
    let schema = json!({"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"], "additionalProperties": false});
    let picky = DynamicTool::new(
        "picky",
        "Accepts fewer inputs than its schema allows.",
        schema,
        |_: Picky, _| async { "x" },
    );
    let registry = Registry::builder().dynamic(picky).build().unwrap();
    let found = testing::violations(registry.get("picky").unwrap());
    assert!(
        found
            .iter()
            .any(|violation| violation.text.contains("which fits its types")),
        "{found:?}"
    );
}
