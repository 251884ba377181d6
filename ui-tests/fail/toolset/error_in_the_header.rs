use tool_core::prelude::*;

use tool_core::toolset;

/// Greets.
#[tool]
pub fn greet(
    /// Name.
    whom: String,
    /// How.
    how: &str,
) -> Result<String, ToolError> {
    Ok(whom + how)
}

fn main() {
    let _ = toolset![greet];
}
