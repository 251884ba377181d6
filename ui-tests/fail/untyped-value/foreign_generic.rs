use tool_core::prelude::*;

/// Stores the values under their names.
#[tool]
pub fn store(
    /// The argument `page` of the tool.
    page: ui_foreign::Page<ui_foreign::Page<serde_json::Value>>,
) -> Result<usize, ToolError> {
    Ok(page.items.len())
}

fn main() {}
