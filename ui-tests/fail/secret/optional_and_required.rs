use tool_core::prelude::*;

/// Greets a person by name.
#[tool]
pub fn greet(#[secret("api_key", optional)] key: SecretString) -> Result<(), ToolError> {
    drop(key);
    Ok(())
}

fn main() {}
