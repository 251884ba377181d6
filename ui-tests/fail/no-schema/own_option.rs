use tool_core::prelude::*;

pub enum Option<T> {
    Some(T),
    None,
}

/// Greets a person by name.
#[tool]
pub fn greet(
    /// The argument `whom` of the tool.
    whom: Option<u8>,
) -> Result<bool, ToolError> {
    Ok(matches!(whom, Option::Some(_)))
}

fn main() {}
