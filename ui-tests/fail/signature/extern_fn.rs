use tool_core::prelude::*;

/// Adds two numbers.
#[tool]
pub extern "C" fn add() -> i64 {
    0
}

fn main() {}
