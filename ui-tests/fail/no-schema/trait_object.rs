use tool_core::prelude::*;

/// Greets.
#[tool]
pub fn greet(
    /// Name.
    whom: Box<dyn std::fmt::Display>,
) -> Result<String, ToolError> {
    Ok(whom.to_string())
}

fn main() {}
