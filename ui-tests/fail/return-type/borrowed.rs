use tool_core::prelude::*;

/// Greets.
#[tool]
pub fn greet(
    /// Whom.
    whom: String,
) -> &str {
    &whom
}

fn main() {}
