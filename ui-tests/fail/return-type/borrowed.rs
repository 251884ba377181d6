use tool_core::prelude::*;

/// Greets a person by name.
#[tool]
pub fn greet(
    /// The argument `whom` of the tool.
    whom: String,
) -> &str {
    &whom
}

fn main() {}
