use tool_core::prelude::*;

/// Sums numbers, for this test.
#[tool]
pub fn sum(#[args] numbers: Vec<i64>) -> Result<i64, ToolError> {
    Ok(numbers.iter().sum())
}

fn main() {}
