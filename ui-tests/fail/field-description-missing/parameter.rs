use tool_core::prelude::*;

/// Greets a person by name.
#[tool]
pub fn greet(name: String) -> Result<String, ToolError> {
    Ok(name)
}

fn main() {}
