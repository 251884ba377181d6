use tool_core::prelude::*;

/// Greets.
#[tool]
pub fn greet(
    /// Name.
    whom: &str,
) -> Result<String, ToolError> {
    Ok(whom.to_owned())
}

fn main() {}
