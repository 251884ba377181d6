use tool_core::prelude::*;

/// Greets.
#[tool]
pub fn greet(
    /// Name.
    whom: String,
) -> &str {
    &whom
}

fn main() {}
