use tool_core::prelude::*;

/// Adds.
#[tool]
pub fn add(
    /// A number.
    _: i64,
) -> Result<i64, ToolError> {
    Ok(0)
}

fn main() {}
