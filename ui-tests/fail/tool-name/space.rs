use tool_core::prelude::*;

/// Greets a person by name.
#[tool(name = "say hello")]
pub fn greet() -> Result<(), ToolError> {
    Ok(())
}

fn main() {}
