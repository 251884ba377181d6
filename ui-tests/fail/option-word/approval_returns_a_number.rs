use tool_core::prelude::*;

fn asks(_: &delete, _: &ToolContext) -> u32 {
    1
}

/// Deletes the item for good.
#[tool(approval = asks)]
pub fn delete() -> Result<(), ToolError> {
    Ok(())
}

fn main() {}
