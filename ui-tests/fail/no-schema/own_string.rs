use tool_core::prelude::*;

/// A name of its own.
#[derive(Debug)]
pub struct String(pub Vec<char>);

/// Greets.
#[tool]
pub fn greet(
    /// Name.
    whom: String,
) -> Result<usize, ToolError> {
    Ok(whom.0.len())
}

fn main() {}
