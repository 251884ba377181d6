use tool_core::prelude::*;

/// Greets.
#[tool(providers())]
pub fn greet() -> Result<(), ToolError> {
    Ok(())
}

fn main() {}
