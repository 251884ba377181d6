use tool_core::prelude::*;

/// Tags a page, for this test.
#[tool]
pub fn tag(
    /// The argument `page` of the tool.
    page: Vec<ui_foreign::Tagged>,
) -> Result<usize, ToolError> {
    Ok(page.len())
}

fn main() {}
