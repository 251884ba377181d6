use tool_core::prelude::*;

/// Greets a person by name.
#[tool(allow(limit-tools))]
pub fn greet() -> Result<(), ToolError> {
    Ok(())
}

fn main() {}
