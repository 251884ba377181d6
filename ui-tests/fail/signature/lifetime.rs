use tool_core::prelude::*;

/// Greets a person by name.
#[tool]
pub fn greet<'a>(cx: &'a ToolContext) -> Result<(), ToolError> {
    let _ = cx;
    Ok(())
}

fn main() {}
