use tool_core::prelude::*;

/// Greets a person by name.
#[tool]
pub fn greet(cx: &mut ToolContext) -> Result<(), ToolError> {
    let _ = cx;
    Ok(())
}

fn main() {}
