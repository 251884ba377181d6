use tool_core::prelude::*;
use tool_core::toolset;

/// Greets.
#[tool]
pub fn greet(
    /// Name.
    whom: String
    /// How often.
    often: u8,
) -> Result<String, ToolError> {
    Ok(String::new())
}

fn main() {
    let _ = toolset![greet];
}
