use tool_core::prelude::*;

/// Greets a person by name.
#[tool]
pub fn greet(
    /// The argument `whom` of the tool.
    whom: &str,
) -> Result<String, ToolError> {
    Ok(whom.to_owned())
}

fn main() {}
