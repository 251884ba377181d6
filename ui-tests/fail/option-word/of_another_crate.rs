use tool_core::prelude::*;

#[tool(description = "Adds.")]
pub fn add(
    /// One.
    #[arg(min = 1, max = 10)]
    a: i64,
    /// Another.
    #[arg(minimum = 1)]
    b: i64,
) -> Result<i64, ToolError> {
    Ok(a + b)
}

fn main() {}
