use tool_core::prelude::*;

/// Counts all of the items.
#[tool]
pub fn count() -> u32 {
    yield 1;
    2
}

fn main() {}
