use tool_core::prelude::*;

/// Reads the value and returns it.
#[tool(example("One page", { "page": { "items": [1, "two"], "next": null } }))]
pub fn read(
    /// The argument `page` of the tool.
    page: ui_foreign::Page<u16>,
) -> Result<usize, ToolError> {
    Ok(page.items.len())
}

fn main() {}
