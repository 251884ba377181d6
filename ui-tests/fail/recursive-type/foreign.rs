use tool_core::prelude::*;

/// Walks a tree of another crate.
#[tool]
pub fn walk(
    /// The argument `root` of the tool.
    root: Option<ui_foreign::Tree>,
) -> Result<bool, ToolError> {
    Ok(root.is_some())
}

fn main() {}
