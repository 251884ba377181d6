use tool_core::prelude::*;

/// Deletes.
#[tool(approval = |call| call.path.starts_with('/'), title = "Delete")]
pub fn delete(
    /// Which file.
    path: String,
) -> Result<(), ToolError> {
    drop(path);
    Ok(())
}

fn main() {}
