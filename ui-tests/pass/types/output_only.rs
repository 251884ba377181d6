//! The rules for arguments do not apply to a type that is only returned.

use std::collections::HashMap;
use std::sync::Arc;

use futures::FutureExt as _;
use tool_core::prelude::*;

/// The record `Report` of this test.
#[derive(Debug, Serialize, StrictSchema)]
pub struct Report {
    /// The counts by name.
    pub counts: HashMap<String, u32>,
    /// The unchanged result.
    pub raw: serde_json::Value,
    /// The field `place` of `Report`.
    pub place: (f64, f64),
    /// The field `bytes` of `Report`.
    pub bytes: Vec<u8>,
    /// The field `page` of `Report`.
    pub page: url::Url,
    /// The rows; some values are missing.
    pub rows: Vec<Option<u32>>,
    /// The field `nothing` of `Report`.
    pub nothing: (),
    /// The field `state` of `Report`.
    pub state: State,
    /// The field `sum` of `Report`.
    pub sum: Sum,
    /// The name, as shared text.
    #[serde(rename = "full name")]
    pub name: Arc<str>,
}

#[derive(Debug, Serialize, StrictSchema)]
pub enum State {
    #[serde(rename = "open")]
    Lower,
    #[serde(rename = "OPEN")]
    Upper,
}

/// Two variants that a model does not have to distinguish.
#[derive(Debug, Serialize, StrictSchema)]
#[serde(untagged)]
pub enum Sum {
    Small {
        /// The field `count` of `Small`.
        count: u32,
    },
    Large {
        /// The field `count` of `Large`.
        count: u64,
    },
    Nothing,
}

/// The tool `report` of this test.
#[tool]
pub async fn report() -> Result<Report, ToolError> {
    Ok(Report {
        counts: HashMap::from([("a".to_owned(), 1)]),
        raw: serde_json::json!([null, 1]),
        place: (1.0, 2.0),
        bytes: vec![1],
        page: url::Url::parse("https://example.com").map_err(ToolError::foreign)?,
        rows: vec![None, Some(1)],
        nothing: (),
        state: State::Upper,
        sum: Sum::Large { count: 1 },
        name: Arc::from("a"),
    })
}

/// Takes and returns a shared text.
#[tool]
pub async fn shared(
    /// The argument `text` of the tool.
    text: Arc<str>,
    /// A list of shared texts.
    more: Vec<Arc<str>>,
    /// The argument `numbers` of the tool.
    numbers: Option<Arc<[u16]>>,
) -> Arc<str> {
    drop(numbers);
    more.into_iter().next().unwrap_or(text)
}

fn main() {
    let tools = toolset![report, shared];
    let call = |name: &str, text: &str| {
        let call = ToolCall::new("1", name, text);
        let result = tools.call(call, &ToolContext::anonymous()).now_or_never();
        result.expect("it waits for nothing")
    };
    let result = call("report", "{}");
    assert!(!result.is_error(), "{}", result.model_text());
    let schema = tools.get("report").and_then(|def| def.output_schema().map(|schema| schema.into_owned()));
    assert!(schema.is_some_and(|schema| schema.contains("prefixItems")));
    assert_eq!(call("shared", r#"{"text":"a","more":["b"]}"#).model_text(), "b");
    assert_eq!(call("shared", r#"{"text":"a","more":[]}"#).model_text(), "a");
}
