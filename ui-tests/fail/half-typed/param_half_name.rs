use tool_core::prelude::*;
use tool_core::toolset;

/// Greets a person by name.
#[tool]
pub fn greet(
    /// The argument `whom` of the tool.
    whom: Wh,
) -> Result<String, ToolError> {
    Ok(String::new())
}

fn main() {
    let _ = toolset![greet];
}
