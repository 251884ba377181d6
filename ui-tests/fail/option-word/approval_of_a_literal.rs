use tool_core::prelude::*;

/// Deletes the item for good.
#[tool(approval = true)]
pub fn delete(
    /// The argument `path` of the tool.
    path: String,
) -> Result<(), ToolError> {
    drop(path);
    Ok(())
}

fn main() {}
