use tool_core::prelude::*;

/// Greets.
#[tool]
pub fn greet(cx: &mut ToolContext) -> Result<(), ToolError> {
    let _ = cx;
    Ok(())
}

fn main() {}
