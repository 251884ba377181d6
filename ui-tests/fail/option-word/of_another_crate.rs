use tool_core::prelude::*;

#[tool(description = "Adds.")]
pub fn add(
    /// The argument `a` of the tool.
    #[arg(min = 1, max = 10)]
    a: i64,
    /// The argument `b` of the tool.
    #[arg(minimum = 1)]
    b: i64,
) -> Result<i64, ToolError> {
    Ok(a + b)
}

fn main() {}
