use tool_core::prelude::*;

fn asks(_: &delete) -> bool {
    true
}

/// Deletes the item for good.
#[tool(approval = asks)]
pub fn delete() -> Result<(), ToolError> {
    Ok(())
}

fn main() {}
