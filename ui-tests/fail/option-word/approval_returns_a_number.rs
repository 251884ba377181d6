use tool_core::prelude::*;

fn asks(_: &delete, _: &ToolContext) -> u32 {
    1
}

/// Deletes.
#[tool(approval = asks)]
pub fn delete() -> Result<(), ToolError> {
    Ok(())
}

fn main() {}
