use tool_core::prelude::*;
use tool_core::toolset;

/// Greets a person by name.
#[tool]
pub fn greet(
    ///
    whom: String,
) -> Result<String, ToolError> {
    Ok(whom)
}

fn main() {
    let _ = toolset![greet];
}
