use tool_core::prelude::*;

pub enum Option<T> {
    Some(T),
    None,
}

/// Greets.
#[tool]
pub fn greet(
    /// Name.
    whom: Option<u8>,
) -> Result<bool, ToolError> {
    Ok(matches!(whom, Option::Some(_)))
}

fn main() {}
