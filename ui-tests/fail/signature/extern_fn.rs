use tool_core::prelude::*;

/// Adds two numbers to a sum.
#[tool]
pub extern "C" fn add() -> i64 {
    0
}

fn main() {}
