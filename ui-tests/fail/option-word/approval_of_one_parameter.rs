use tool_core::prelude::*;

fn asks(_: &delete) -> bool {
    true
}

/// Deletes.
#[tool(approval = asks)]
pub fn delete() -> Result<(), ToolError> {
    Ok(())
}

fn main() {}
