use tool_core::prelude::*;

use tool_core::toolset;

/// Greets a person by name.
#[tool]
pub fn greet(
    /// The argument `whom` of the tool.
    whom: String,
    /// The argument `how` of the tool.
    how: &str,
) -> Result<String, ToolError> {
    Ok(whom + how)
}

fn main() {
    let _ = toolset![greet];
}
