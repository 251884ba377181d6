use tool_core::prelude::*;

/// Returns the sum of the arguments.
#[tool]
pub fn add() -> Result<i64, ToolError>
where
    String: Clone,
{
    Ok(0)
}

fn main() {}
