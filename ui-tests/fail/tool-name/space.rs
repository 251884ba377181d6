use tool_core::prelude::*;

/// Greets.
#[tool(name = "say hello")]
pub fn greet() -> Result<(), ToolError> {
    Ok(())
}

fn main() {}
