//! A tool calls a different tool that its type does not name.

use tool_core::prelude::*;
use tool_core::Uses;

/// Adds two numbers to a sum.
#[tool(read_only)]
fn add(
    /// The argument `a` of the tool.
    a: i32,
    /// The argument `b` of the tool.
    b: i32,
) -> i64 {
    i64::from(a) + i64::from(b)
}

/// Subtracts the second number from the first.
#[tool(read_only)]
fn subtract(
    /// The argument `a` of the tool.
    a: i32,
    /// The argument `b` of the tool.
    b: i32,
) -> i64 {
    i64::from(a) - i64::from(b)
}

/// Returns a number, for this test.
#[tool(read_only)]
fn nothing() -> u8 {
    0
}

/// Doubles a number, for this test.
#[tool]
async fn double(
    #[context] uses: Uses<(add, nothing)>,
    /// The argument `n` of the tool.
    n: i32,
) -> Result<i64, ToolError> {
    uses.invoke(subtract { a: n, b: n }).await
}

fn main() {}
