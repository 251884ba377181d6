use tool_core::prelude::*;

use tool_core::toolset;

/// Greets a person by name.
#[tool]
pub fn greet<T: ToString>(
    /// The argument `whom` of the tool.
    whom: T,
) -> Result<String, ToolError> {
    Ok(whom.to_string())
}

fn main() {
    let _ = toolset![greet];
}
