use tool_core::prelude::*;

use tool_core::toolset;

/// Greets.
#[tool]
pub fn greet<T: ToString>(
    /// Name.
    whom: T,
) -> Result<String, ToolError> {
    Ok(whom.to_string())
}

fn main() {
    let _ = toolset![greet];
}
