use tool_core::prelude::*;

/// Uploads.
#[tool]
pub fn upload(
    /// The parts.
    parts: ui_foreign::Page<Vec<u8>>,
) -> Result<usize, ToolError> {
    Ok(parts.items.len())
}

fn main() {}
