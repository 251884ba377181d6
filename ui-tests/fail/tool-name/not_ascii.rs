use tool_core::prelude::*;

/// Greets.
#[tool]
pub fn grüße() -> Result<(), ToolError> {
    Ok(())
}

fn main() {}
