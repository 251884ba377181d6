use tool_core::prelude::*;

/// Counts all of the items.
#[tool]
pub fn u8(
    /// The argument `text` of the tool.
    text: String,
) -> Result<usize, ToolError> {
    Ok(text.len())
}

fn main() {}
