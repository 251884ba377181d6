use tool_core::prelude::*;

/// Deletes.
#[tool(approval = true)]
pub fn delete(
    /// Which file.
    path: String,
) -> Result<(), ToolError> {
    drop(path);
    Ok(())
}

fn main() {}
