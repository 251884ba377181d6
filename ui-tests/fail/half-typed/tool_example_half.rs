use tool_core::prelude::*;
use tool_core::toolset;

/// Greets a person by name.
#[tool(example("One", { "whom": }))]
pub fn greet(
    /// The argument `whom` of the tool.
    whom: String,
) -> Result<String, ToolError> {
    Ok(whom)
}

fn main() {
    let _ = toolset![greet];
}
