use tool_core::prelude::*;

/// Greets.
#[tool(category = "a", category = "b")]
pub fn greet() -> Result<(), ToolError> {
    Ok(())
}

fn main() {}
