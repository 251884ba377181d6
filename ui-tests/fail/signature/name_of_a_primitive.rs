use tool_core::prelude::*;

/// Counts.
#[tool]
pub fn u8(
    /// What.
    text: String,
) -> Result<usize, ToolError> {
    Ok(text.len())
}

fn main() {}
