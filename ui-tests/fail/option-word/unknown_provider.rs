use tool_core::prelude::*;

/// Greets a person by name.
#[tool(providers(openai, claude))]
pub fn greet() -> Result<(), ToolError> {
    Ok(())
}

fn main() {}
