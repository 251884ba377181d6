use tool_core::prelude::*;

/// Sums.
#[tool]
pub fn sum(
    /// Numbers.
    numbers: &[i64],
) -> Result<i64, ToolError> {
    Ok(numbers.iter().sum())
}

fn main() {}
