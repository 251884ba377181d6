use tool_core::prelude::*;

/// Greets a person by name.
#[tool(providers())]
pub fn greet() -> Result<(), ToolError> {
    Ok(())
}

fn main() {}
