use tool_core::prelude::*;

use tool_core::toolset;

pub struct Plain;

/// Greets a person by name.
#[tool]
pub fn greet() -> Result<Plain, ToolError> {
    Ok(Plain)
}

fn main() {
    let _ = toolset![greet];
}
