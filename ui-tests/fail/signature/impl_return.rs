use tool_core::prelude::*;

/// Greets a person by name.
#[tool]
pub fn greet() -> impl Serialize {
    "hello"
}

fn main() {}
