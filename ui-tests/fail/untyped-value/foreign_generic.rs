use tool_core::prelude::*;

/// Stores.
#[tool]
pub fn store(
    /// What.
    page: ui_foreign::Page<ui_foreign::Page<serde_json::Value>>,
) -> Result<usize, ToolError> {
    Ok(page.items.len())
}

fn main() {}
