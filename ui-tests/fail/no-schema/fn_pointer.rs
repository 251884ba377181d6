use tool_core::prelude::*;

/// Greets.
#[tool]
pub async fn greet(
    /// How.
    how: fn(&str) -> String,
) -> Result<String, ToolError> {
    Ok(how("you"))
}

fn main() {}
