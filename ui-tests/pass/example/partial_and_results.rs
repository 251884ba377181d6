use tool_core::prelude::*;

/// A hit.
#[derive(Debug, Serialize, StrictSchema)]
pub struct Hit {
    /// Its title.
    pub title: String,
}

/// Finds.
#[tool(
    example("Leaves out what it does not need", { "query": "serde" }),
    example("With a result", { "query": "serde", "limit": 1 } => { "title": "serde" }),
    example({ "limit": 3 }),
)]
pub fn find(
    /// What.
    query: String,
    /// How many.
    limit: u8,
) -> Result<Hit, ToolError> {
    let _ = limit;
    Ok(Hit { title: query })
}

fn main() {
    let tools = toolset![find];
    assert!(tools.definitions(Dialect::Anthropic).contains("input_examples"));
}
