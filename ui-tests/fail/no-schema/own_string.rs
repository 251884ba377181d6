use tool_core::prelude::*;

/// A type that has the name of a type of the standard library.
#[derive(Debug)]
pub struct String(pub Vec<char>);

/// Greets a person by name.
#[tool]
pub fn greet(
    /// The argument `whom` of the tool.
    whom: String,
) -> Result<usize, ToolError> {
    Ok(whom.0.len())
}

fn main() {}
