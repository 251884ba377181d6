use tool_core::prelude::*;

/// Greets.
#[tool]
pub fn greet(cx: ToolContext) -> Result<(), ToolError> {
    drop(cx);
    Ok(())
}

fn main() {}
