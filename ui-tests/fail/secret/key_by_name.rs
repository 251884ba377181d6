use tool_core::prelude::*;

/// Greets.
#[tool]
pub fn greet(#[secret(name = "api_key")] key: SecretString) -> Result<(), ToolError> {
    drop(key);
    Ok(())
}

fn main() {}
