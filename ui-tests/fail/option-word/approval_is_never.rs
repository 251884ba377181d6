use tool_core::prelude::*;

/// Deletes.
#[tool(approval = never)]
pub fn delete() -> Result<(), ToolError> {
    Ok(())
}

fn main() {}
