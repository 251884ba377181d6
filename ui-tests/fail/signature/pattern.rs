use tool_core::prelude::*;

/// Returns the sum of the arguments.
#[tool]
pub fn add(
    /// The two numbers to add.
    [a, b]: [i64; 2],
) -> Result<i64, ToolError> {
    Ok(a + b)
}

fn main() {}
