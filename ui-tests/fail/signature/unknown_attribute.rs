use tool_core::prelude::*;

/// Greets.
#[tool]
pub fn greet(#[validate] name: String) -> Result<String, ToolError> {
    Ok(name)
}

fn main() {}
