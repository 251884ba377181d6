use tool_core::prelude::*;

/// Adds the arguments to a sum.
#[tool]
pub fn add() -> Result<i64, ToolError>
where
    String: Clone,
{
    Ok(0)
}

fn main() {}
