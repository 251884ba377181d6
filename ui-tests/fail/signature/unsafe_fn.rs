use tool_core::prelude::*;

/// Adds the arguments to a sum.
#[tool]
pub unsafe fn add() -> Result<i64, ToolError> {
    Ok(0)
}

fn main() {}
