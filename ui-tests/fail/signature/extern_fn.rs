use tool_core::prelude::*;

/// Adds.
#[tool]
pub extern "C" fn add() -> i64 {
    0
}

fn main() {}
