use tool_core::prelude::*;

/// Greets.
#[tool]
pub fn greet(#[secret] key: SecretString) -> Result<(), ToolError> {
    drop(key);
    Ok(())
}

fn main() {}
