use tool_core::prelude::*;

/// Greets a person by name.
#[tool]
pub fn greet(
    /// The argument `whom` of the tool.
    whom: Box<dyn std::fmt::Display>,
) -> Result<String, ToolError> {
    Ok(whom.to_string())
}

fn main() {}
