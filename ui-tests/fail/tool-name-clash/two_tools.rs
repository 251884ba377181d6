use tool_core::prelude::*;

/// Greets.
#[tool(name = "hello")]
pub fn greet() -> Result<(), ToolError> {
    Ok(())
}

/// Greets.
#[tool(name = "hello")]
pub fn welcome() -> Result<(), ToolError> {
    Ok(())
}

fn main() {
    let _ = toolset![greet, welcome];
}
