use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Query<'a> {
    /// The text to search for.
    pub text: &'a str,
}

/// Searches the index for pages.
#[tool]
pub fn search(
    /// The argument `query` of the tool.
    query: Query<'_>,
) -> Result<usize, ToolError> {
    Ok(query.text.len())
}

fn main() {}
