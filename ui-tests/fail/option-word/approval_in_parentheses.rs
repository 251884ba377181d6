use tool_core::prelude::*;

/// Deletes.
#[tool(approval(always))]
pub fn delete() -> Result<(), ToolError> {
    Ok(())
}

fn main() {}
