use tool_core::prelude::*;

/// Deletes the item for good.
#[tool(approval = always)]
pub fn delete() -> Result<(), ToolError> {
    Ok(())
}

fn main() {}
