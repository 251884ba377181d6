use tool_core::prelude::*;

async fn asks(_: &delete, _: &ToolContext) -> bool {
    true
}

/// Deletes the item for good.
#[tool(approval = asks)]
pub fn delete() -> Result<(), ToolError> {
    Ok(())
}

fn main() {}
