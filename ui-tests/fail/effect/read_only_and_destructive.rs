use tool_core::prelude::*;

/// Reads the value and returns it.
#[tool(read_only, destructive)]
pub fn read() -> Result<(), ToolError> {
    Ok(())
}

fn main() {}
