use tool_core::prelude::*;

/// Deletes the item for good.
#[tool(approval = never)]
pub fn delete() -> Result<(), ToolError> {
    Ok(())
}

fn main() {}
