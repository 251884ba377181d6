use tool_core::prelude::*;

/// Greets a person by name.
#[tool]
pub async fn greet(
    /// The argument `how` of the tool.
    how: fn(&str) -> String,
) -> Result<String, ToolError> {
    Ok(how("you"))
}

fn main() {}
