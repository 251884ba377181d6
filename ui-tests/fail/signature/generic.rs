use tool_core::prelude::*;

/// Greets a person by name.
#[tool]
pub fn greet<T: std::fmt::Display>(
    /// The argument `whom` of the tool.
    whom: T,
) -> Result<String, ToolError> {
    Ok(whom.to_string())
}

fn main() {}
