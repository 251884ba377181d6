use tool_core::prelude::*;

/// Greets.
#[tool(allow(limit-tools))]
pub fn greet() -> Result<(), ToolError> {
    Ok(())
}

fn main() {}
