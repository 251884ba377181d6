use tool_core::prelude::*;

/// Greets.
#[tool]
pub fn greet(#[secrt("k")] key: SecretString) -> Result<(), ToolError> {
    drop(key);
    Ok(())
}

fn main() {}
