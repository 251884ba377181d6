use tool_core::prelude::*;

/// The tool `upload` of this test.
#[tool]
pub fn upload(
    /// The argument `parts` of the tool.
    parts: ui_foreign::Page<Vec<u8>>,
) -> Result<usize, ToolError> {
    Ok(parts.items.len())
}

fn main() {}
