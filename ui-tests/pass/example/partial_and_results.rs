use tool_core::prelude::*;

/// The record `Hit` of this test.
#[derive(Debug, Serialize, StrictSchema)]
pub struct Hit {
    /// The field `title` of `Hit`.
    pub title: String,
}

/// Finds the pages that match.
#[tool(
    example("Omits a required argument", { "query": "serde" }),
    example("With a result", { "query": "serde", "limit": 1 } => { "title": "serde" }),
    example({ "limit": 3 }),
)]
pub fn find(
    /// The argument `query` of the tool.
    query: String,
    /// The argument `limit` of the tool.
    limit: u8,
) -> Result<Hit, ToolError> {
    let _ = limit;
    Ok(Hit { title: query })
}

fn main() {
    let tools = toolset![find];
    assert!(tools.definitions(Dialect::Anthropic).contains("input_examples"));
}
