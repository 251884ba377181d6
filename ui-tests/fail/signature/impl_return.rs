use tool_core::prelude::*;

/// Greets.
#[tool]
pub fn greet() -> impl Serialize {
    "hello"
}

fn main() {}
