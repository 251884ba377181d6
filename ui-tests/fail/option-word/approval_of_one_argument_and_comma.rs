use tool_core::prelude::*;

/// Deletes the item for good.
#[tool(approval = |call,| call.path.starts_with('/'), title = "Delete")]
pub fn delete(
    /// The argument `path` of the tool.
    path: String,
) -> Result<(), ToolError> {
    drop(path);
    Ok(())
}

fn main() {}
