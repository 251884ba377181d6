use tool_core::prelude::*;

/// Greets.
#[tool(allow(tool_name_client))]
pub fn greet() -> Result<(), ToolError> {
    Ok(())
}

fn main() {}
