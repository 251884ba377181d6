use tool_core::prelude::*;

/// Adds the arguments to a sum.
#[tool]
pub fn add(
    /// The two numbers to add.
    [a, b]: [i64; 2],
) -> Result<i64, ToolError> {
    Ok(a + b)
}

fn main() {}
