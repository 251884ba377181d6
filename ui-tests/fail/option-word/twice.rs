use tool_core::prelude::*;

/// Greets a person by name.
#[tool(category = "a", category = "b")]
pub fn greet() -> Result<(), ToolError> {
    Ok(())
}

fn main() {}
