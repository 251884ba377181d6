use tool_core::prelude::*;

/// Adds the arguments to a sum.
#[tool]
pub fn add(
    /// The argument `_` of the tool.
    _: i64,
) -> Result<i64, ToolError> {
    Ok(0)
}

fn main() {}
