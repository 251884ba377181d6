use tool_core::prelude::*;

pub enum Result<T, E> {
    Ok(T),
    Err(E),
}

/// Greets a person by name.
#[tool]
pub fn greet(
    /// The argument `whom` of the tool.
    whom: String,
) -> Result<String, ToolError> {
    Result::Ok(whom)
}

fn main() {}
