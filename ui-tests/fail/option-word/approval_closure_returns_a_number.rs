use tool_core::prelude::*;

/// Deletes the item for good.
#[tool(approval = |_, _| 1)]
pub fn delete() -> Result<(), ToolError> {
    Ok(())
}

fn main() {}
