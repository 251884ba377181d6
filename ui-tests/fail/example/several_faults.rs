use tool_core::prelude::*;

/// Lists all of the entries.
#[tool(example("All wrong", { "limit": -3, "words": ["a", 1], "page": 1 }))]
pub fn list(
    /// The argument `limit` of the tool.
    limit: u32,
    /// The argument `words` of the tool.
    words: Vec<String>,
) -> Result<usize, ToolError> {
    Ok(words.len() + limit as usize)
}

fn main() {}
