use tool_core::prelude::*;

/// Greets a person by name.
#[tool(name = "2fa")]
pub fn greet() -> Result<(), ToolError> {
    Ok(())
}

fn main() {}
