use tool_core::prelude::*;

/// The tool `sum` of this test.
#[tool]
pub fn sum(
    /// The argument `numbers` of the tool.
    numbers: &[i64],
) -> Result<i64, ToolError> {
    Ok(numbers.iter().sum())
}

fn main() {}
