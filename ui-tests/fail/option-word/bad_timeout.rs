use tool_core::prelude::*;

/// Greets.
#[tool(timeout = "soon")]
pub fn greet() -> Result<(), ToolError> {
    Ok(())
}

fn main() {}
