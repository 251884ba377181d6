use tool_core::prelude::*;

/// Everything that serde renames or leaves out.
#[derive(Debug, Default, Serialize, Deserialize, StrictSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Record {
    /// Renamed by the rule.
    pub first_name: String,
    /// Renamed by hand.
    #[serde(rename = "surname")]
    pub last_name: String,
    /// Never read.
    #[serde(skip_deserializing)]
    pub seen: u32,
    /// Never written.
    #[serde(skip_serializing)]
    pub word: String,
    /// Neither.
    #[serde(skip)]
    pub cache: u32,
    /// Sometimes left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nick: Option<String>,
}

/// A page.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Page {
    /// How many.
    pub limit: u8,
}

/// A query.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Query {
    /// What.
    pub text: String,
    /// Which page.
    #[serde(flatten)]
    pub page: Page,
}

/// Wraps.
#[derive(Debug, Deserialize, StrictSchema)]
#[serde(transparent)]
pub struct Wrapper {
    /// What.
    pub inner: Query,
}

/// A bounded number.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Score(#[schema(range = 0..=100)] u8);

/// Takes all.
#[tool]
pub fn take(
    /// A record.
    record: Record,
    /// A query.
    query: Wrapper,
    /// A score.
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
