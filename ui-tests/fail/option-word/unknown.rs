use tool_core::prelude::*;

/// Greets a person by name.
#[tool(categroy = "greetings")]
pub fn greet() -> Result<(), ToolError> {
    Ok(())
}

fn main() {}
