use tool_core::prelude::*;

/// Greets a person by name.
#[tool]
pub fn greet(
    /// The argument `whom` of the tool.
    whom: String,
) -> Result<String, ToolError> {
    let length: String = whom.len();
    Ok(whom + &length)
}

fn main() {}
