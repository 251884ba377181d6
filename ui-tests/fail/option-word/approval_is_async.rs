use tool_core::prelude::*;

async fn asks(_: &delete, _: &ToolContext) -> bool {
    true
}

/// Deletes.
#[tool(approval = asks)]
pub fn delete() -> Result<(), ToolError> {
    Ok(())
}

fn main() {}
