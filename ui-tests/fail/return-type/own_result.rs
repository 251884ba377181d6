use tool_core::prelude::*;

pub enum Result<T, E> {
    Ok(T),
    Err(E),
}

/// Greets.
#[tool]
pub fn greet(
    /// Name.
    whom: String,
) -> Result<String, ToolError> {
    Result::Ok(whom)
}

fn main() {}
