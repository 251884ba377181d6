use tool_core::prelude::*;

/// Greets.
#[tool(categroy = "greetings")]
pub fn greet() -> Result<(), ToolError> {
    Ok(())
}

fn main() {}
