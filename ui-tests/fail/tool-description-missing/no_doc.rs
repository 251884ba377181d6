use tool_core::prelude::*;

#[tool]
pub fn greet() -> Result<(), ToolError> {
    Ok(())
}

fn main() {}
