use tool_core::prelude::*;
use tool_core::toolset;

/// Greets a person by name.
#[tool]
pub fn greet(
    /// The name of the person.
    name: String,
    /// The argument `_limit` of the tool.
    _limit
) -> Result<String, ToolError> {
    Ok(name)
}

fn main() {
    let _ = toolset![greet];
}
