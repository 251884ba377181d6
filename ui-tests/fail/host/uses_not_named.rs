//! A tool calls another that its type does not name.

use tool_core::prelude::*;
use tool_core::Uses;

/// Adds two numbers.
#[tool(read_only)]
fn add(
    /// The first.
    a: i32,
    /// The second.
    b: i32,
) -> i64 {
    i64::from(a) + i64::from(b)
}

/// Takes one number from another.
#[tool(read_only)]
fn subtract(
    /// The first.
    a: i32,
    /// The second.
    b: i32,
) -> i64 {
    i64::from(a) - i64::from(b)
}

/// Says nothing.
#[tool(read_only)]
fn nothing() -> u8 {
    0
}

/// Doubles a number.
#[tool]
async fn double(
    #[context] uses: Uses<(add, nothing)>,
    /// The number.
    n: i32,
) -> Result<i64, ToolError> {
    uses.invoke(subtract { a: n, b: n }).await
}

fn main() {}
