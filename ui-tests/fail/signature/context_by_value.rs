use tool_core::prelude::*;

/// Greets a person by name.
#[tool]
pub fn greet(cx: ToolContext) -> Result<(), ToolError> {
    drop(cx);
    Ok(())
}

fn main() {}
