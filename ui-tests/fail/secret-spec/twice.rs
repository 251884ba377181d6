use tool_core::prelude::*;

/// Greets a person by name.
#[tool(secret("api_key"))]
pub fn greet(#[secret("api_key")] key: SecretString) -> Result<(), ToolError> {
    drop(key);
    Ok(())
}

fn main() {}
