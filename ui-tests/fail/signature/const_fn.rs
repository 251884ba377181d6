use tool_core::prelude::*;

/// Adds the arguments to a sum.
#[tool]
pub const fn add() -> i64 {
    0
}

fn main() {}
