use tool_core::prelude::*;

/// Returns the sum of the arguments.
#[tool]
pub unsafe fn add() -> Result<i64, ToolError> {
    Ok(0)
}

fn main() {}
