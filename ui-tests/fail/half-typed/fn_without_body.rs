use tool_core::prelude::*;
use tool_core::toolset;

/// Greets a person by name.
#[tool]
pub fn greet() -> Result<String, ToolError>

fn main() {
    let _ = toolset![greet];
}
