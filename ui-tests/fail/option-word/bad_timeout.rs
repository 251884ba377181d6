use tool_core::prelude::*;

/// Greets a person by name.
#[tool(timeout = "soon")]
pub fn greet() -> Result<(), ToolError> {
    Ok(())
}

fn main() {}
