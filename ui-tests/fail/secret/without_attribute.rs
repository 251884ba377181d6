use tool_core::prelude::*;

/// Greets.
#[tool]
pub fn greet(key: SecretString) -> Result<(), ToolError> {
    drop(key);
    Ok(())
}

fn main() {}
