use tool_core::prelude::*;

/// Reads.
#[tool(read_only, destructive)]
pub fn read() -> Result<(), ToolError> {
    Ok(())
}

fn main() {}
