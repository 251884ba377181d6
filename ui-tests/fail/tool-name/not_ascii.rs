use tool_core::prelude::*;

/// Greets a person by name.
#[tool]
pub fn grüße() -> Result<(), ToolError> {
    Ok(())
}

fn main() {}
