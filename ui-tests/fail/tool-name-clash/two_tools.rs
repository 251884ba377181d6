use tool_core::prelude::*;

/// Greets a person by name.
#[tool(name = "hello")]
pub fn greet() -> Result<(), ToolError> {
    Ok(())
}

/// Greets a person by name.
#[tool(name = "hello")]
pub fn welcome() -> Result<(), ToolError> {
    Ok(())
}

fn main() {
    let _ = toolset![greet, welcome];
}
