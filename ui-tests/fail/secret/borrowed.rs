use tool_core::prelude::*;

/// Greets a person by name.
#[tool]
pub fn greet(key: &SecretString) -> Result<(), ToolError> {
    let _ = key;
    Ok(())
}

fn main() {}
