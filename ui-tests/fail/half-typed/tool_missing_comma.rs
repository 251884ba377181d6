use tool_core::prelude::*;
use tool_core::toolset;

/// Greets.
#[tool(title = "Greet" category = "talk")]
pub fn greet(
    /// Name.
    whom: String,
) -> Result<String, ToolError> {
    Ok(whom)
}

fn main() {
    let _ = toolset![greet];
}
