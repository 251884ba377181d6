use tool_core::prelude::*;
use tool_core::toolset;

/// Greets a person by name.
#[tool(name = 
pub fn greet(
    /// The argument `whom` of the tool.
    whom: String,
) -> Result<String, ToolError> {
    Ok(whom)
}

fn main() {
    let _ = toolset![greet];
}
