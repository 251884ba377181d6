use tool_core::prelude::*;

/// Greets.
#[tool]
pub fn greet<T: std::fmt::Display>(
    /// Name.
    whom: T,
) -> Result<String, ToolError> {
    Ok(whom.to_string())
}

fn main() {}
