use tool_core::prelude::*;

/// Greets a person by name.
#[tool(categroy = "a", timeout = "soon")]
pub fn greet(name: String, r: &str) -> Result<String, ToolError> {
    Ok(name + r)
}

fn main() {}
