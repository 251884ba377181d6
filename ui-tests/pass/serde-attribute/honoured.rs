use tool_core::prelude::*;

/// A record with fields that serde renames or omits.
#[derive(Debug, Default, Serialize, Deserialize, StrictSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Record {
    /// A field that `rename_all` renames.
    pub first_name: String,
    /// A field that `rename` renames.
    #[serde(rename = "surname")]
    pub last_name: String,
    /// A field that is never read.
    #[serde(skip_deserializing)]
    pub seen: u32,
    /// A field that is never written.
    #[serde(skip_serializing)]
    pub word: String,
    /// A field that is neither read nor written.
    #[serde(skip)]
    pub cache: u32,
    /// A field that is not written if it is `None`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nick: Option<String>,
}

/// The record `Page` of this test.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Page {
    /// The field `limit` of `Page`.
    pub limit: u8,
}

/// The record `Query` of this test.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Query {
    /// The field `text` of `Query`.
    pub text: String,
    /// The number of the page.
    #[serde(flatten)]
    pub page: Page,
}

/// A transparent wrapper.
#[derive(Debug, Deserialize, StrictSchema)]
#[serde(transparent)]
pub struct Wrapper {
    /// The field `inner` of `Wrapper`.
    pub inner: Query,
}

/// A number with bounds.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Score(#[schema(range = 0..=100)] u8);

/// Takes all arguments, for this test.
#[tool]
pub fn take(
    /// The argument `record` of the tool.
    record: Record,
    /// The argument `query` of the tool.
    query: Wrapper,
    /// The argument `score` of the tool.
    score: Score,
) -> Result<String, ToolError> {
    Ok(format!("{record:?} {query:?} {}", score.0))
}

fn main() {
    let tools = toolset![take];
    let schema = tools.get("take").unwrap().schema(Dialect::Mcp);
    for key in ["firstName", "surname", "word", "nick", "limit", "\"maximum\":100"] {
        assert!(schema.contains(key), "{key}");
    }
    for key in ["seen", "cache", "inner"] {
        assert!(!schema.contains(key), "{key}");
    }
}
