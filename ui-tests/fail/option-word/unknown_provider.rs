use tool_core::prelude::*;

/// Greets.
#[tool(providers(openai, claude))]
pub fn greet() -> Result<(), ToolError> {
    Ok(())
}

fn main() {}
