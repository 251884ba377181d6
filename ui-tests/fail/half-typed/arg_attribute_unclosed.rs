use tool_core::prelude::*;
use tool_core::toolset;

/// Greets a person by name.
#[tool]
pub fn greet(
    /// How often.
    #[arg(range = 1..
    often: u8,
) -> Result<String, ToolError> {
    Ok(often.to_string())
}

fn main() {
    let _ = toolset![greet];
}
