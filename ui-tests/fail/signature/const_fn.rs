use tool_core::prelude::*;

/// Returns the sum of the arguments.
#[tool]
pub const fn add() -> i64 {
    0
}

fn main() {}
