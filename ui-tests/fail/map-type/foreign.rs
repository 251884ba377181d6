use tool_core::prelude::*;

/// Tags a page.
#[tool]
pub fn tag(
    /// The page.
    page: Vec<ui_foreign::Tagged>,
) -> Result<usize, ToolError> {
    Ok(page.len())
}

fn main() {}
