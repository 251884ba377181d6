use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Query<'a> {
    /// What to look for.
    pub text: &'a str,
}

/// Searches.
#[tool]
pub fn search(
    /// The query.
    query: Query<'_>,
) -> Result<usize, ToolError> {
    Ok(query.text.len())
}

fn main() {}
