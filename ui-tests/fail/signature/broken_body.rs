use tool_core::prelude::*;

/// Greets.
#[tool]
pub fn greet(
    /// Name.
    whom: String,
) -> Result<String, ToolError> {
    let length: String = whom.len();
    Ok(whom + &length)
}

fn main() {}
