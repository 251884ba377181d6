use tool_core::prelude::*;

/// The tool `join` of this test.
#[tool]
pub fn join(
    /// The argument `words` of the tool.
    words: Vec<&str>,
) -> Result<String, ToolError> {
    Ok(words.join(" "))
}

fn main() {}
