use tool_core::prelude::*;

/// Adds.
#[tool]
pub const fn add() -> i64 {
    0
}

fn main() {}
