use tool_core::prelude::*;

/// Greets.
#[tool(name = "2fa")]
pub fn greet() -> Result<(), ToolError> {
    Ok(())
}

fn main() {}
