use tool_core::prelude::*;

/// Reads.
#[tool(example("One page", { "page": { "items": [1, "two"], "next": null } }))]
pub fn read(
    /// A page.
    page: ui_foreign::Page<u16>,
) -> Result<usize, ToolError> {
    Ok(page.items.len())
}

fn main() {}
