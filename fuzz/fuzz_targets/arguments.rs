//! Fuzzes the arguments of a tool: nothing panics, serde reads all arguments that the guard accepts, and repair does not change valid arguments.
//!
//! `cargo +nightly fuzz run arguments -- -max_total_time=600`

#![no_main]

use std::{collections::BTreeSet, time::Duration};

use libfuzzer_sys::fuzz_target;
use tool_core::prelude::*;

/// A shape with its data.
#[derive(Debug, Serialize, Deserialize, StrictSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Shape {
    /// A circle.
    Circle {
        /// The radius of the circle.
        radius: f64,
    },
    /// A label.
    Label {
        /// The text of the label.
        #[schema(length = 1..=8, pattern = "^[a-z]+$")]
        text: String,
    },
    /// A shape without fields.
    Nothing,
}

/// A value by its shape.
#[derive(Debug, Serialize, Deserialize, StrictSchema)]
#[serde(untagged)]
#[schema(allow(untagged))]
pub enum Value {
    /// The value is a number.
    Number(i64),
    /// The value is a text.
    Text(String),
    /// The value is a list.
    List(Vec<bool>),
}

/// A programming language.
#[derive(Debug, Serialize, Deserialize, StrictSchema)]
#[serde(rename_all = "snake_case")]
pub enum Lang {
    Rust,
    Go,
    TypeScript,
}

/// A record with fields of many types.
#[derive(Debug, Serialize, Deserialize, StrictSchema)]
pub struct Record {
    /// The language of the record.
    pub lang: Lang,
    /// The tags of the record.
    #[schema(max_items = 4)]
    pub tags: BTreeSet<String>,
    /// The day of the record.
    #[schema(format = "date")]
    pub day: Option<String>,
    /// A fraction from 0 to 1.
    #[schema(range = 0.0..=1.0, multiple_of = 0.05)]
    pub part: f64,
    /// The number of repetitions.
    #[schema(default = 3)]
    pub often: u8,
}

/// Takes arguments of many types.
#[tool]
pub fn take(
    /// A number with bounds.
    #[arg(range = -5..=500)]
    number: Option<i32>,
    /// An optional shape.
    shape: Option<Shape>,
    /// A list of values.
    values: Vec<Value>,
    /// A required record.
    record: Record,
    /// The time to wait.
    wait: Option<Duration>,
) -> Result<String, ToolError> {
    Ok(format!("{number:?} {shape:?} {values:?} {record:?} {wait:?}"))
}

fuzz_target!(|text: &str| {
    let cx = ToolContext::anonymous();
    let strict = toolset![take].repair(Repair::Off);
    let safe = toolset![take].repair(Repair::Safe);
    let call = |tools: &Toolset| {
        futures::executor::block_on(tools.call(ToolCall::new("call_1", "take", text), &cx))
    };
    let (first, second) = (call(&strict), call(&safe));
    assert!(first.model_text().len() < 64 * 1024 + 8 * text.len());
    if first.is_error() {
        // The only error is a refusal of the arguments, because serde reads everything that the guard accepts.
        assert_eq!(format!("{:?}", first.error().map(ToolError::kind)), "Some(InvalidArguments)", "{text}");
    } else {
        assert!(!second.is_error(), "repair refused valid input: {text}");
        assert_eq!(first.model_text(), second.model_text(), "repair changed valid input: {text}");
        assert!(second.repairs().is_empty(), "repairs were reported for valid input: {text}");
        assert!(serde_json::from_str::<serde_json::Value>(text).is_ok() || text.trim().is_empty(), "not JSON: {text}");
    }
});
