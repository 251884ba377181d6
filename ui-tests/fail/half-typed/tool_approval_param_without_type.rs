use tool_core::prelude::*;
use tool_core::toolset;

/// Greets a person by name.
#[tool(approval = |call: , cx| call.name.is_empty(), title = "Greet")]
pub fn greet(
    /// The name of the person.
    name: String,
) -> Result<String, ToolError> {
    Ok(name)
}

fn main() {
    let _ = toolset![greet];
}
