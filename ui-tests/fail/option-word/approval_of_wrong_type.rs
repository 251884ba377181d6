use tool_core::prelude::*;

fn asks(path: &str, _: &ToolContext) -> bool {
    path.starts_with('/')
}

/// Deletes.
#[tool(approval = asks)]
pub fn delete(
    /// Which file.
    path: String,
) -> Result<(), ToolError> {
    drop(path);
    Ok(())
}

fn main() {}
