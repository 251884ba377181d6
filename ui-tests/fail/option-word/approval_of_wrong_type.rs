use tool_core::prelude::*;

fn asks(path: &str, _: &ToolContext) -> bool {
    path.starts_with('/')
}

/// Deletes the item for good.
#[tool(approval = asks)]
pub fn delete(
    /// The argument `path` of the tool.
    path: String,
) -> Result<(), ToolError> {
    drop(path);
    Ok(())
}

fn main() {}
