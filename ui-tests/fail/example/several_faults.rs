use tool_core::prelude::*;

/// Lists.
#[tool(example("All wrong", { "limit": -3, "words": ["a", 1], "page": 1 }))]
pub fn list(
    /// How many.
    limit: u32,
    /// Words.
    words: Vec<String>,
) -> Result<usize, ToolError> {
    Ok(words.len() + limit as usize)
}

fn main() {}
