use tool_core::prelude::*;

/// Joins.
#[tool]
pub fn join(
    /// Words.
    words: Vec<&str>,
) -> Result<String, ToolError> {
    Ok(words.join(" "))
}

fn main() {}
