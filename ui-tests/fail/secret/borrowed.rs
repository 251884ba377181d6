use tool_core::prelude::*;

/// Greets.
#[tool]
pub fn greet(key: &SecretString) -> Result<(), ToolError> {
    let _ = key;
    Ok(())
}

fn main() {}
