use tool_core::prelude::*;

/// Returns the sum of the arguments.
#[tool]
pub fn add(
    /// The argument `_` of the tool.
    _: i64,
) -> Result<i64, ToolError> {
    Ok(0)
}

fn main() {}
