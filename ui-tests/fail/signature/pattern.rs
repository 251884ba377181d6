use tool_core::prelude::*;

/// Adds the arguments to a sum.
#[tool]
pub fn add(
    /// Two numbers.
    [a, b]: [i64; 2],
) -> Result<i64, ToolError> {
    Ok(a + b)
}

fn main() {}
