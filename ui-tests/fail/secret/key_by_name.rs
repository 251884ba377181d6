use tool_core::prelude::*;

/// Greets a person by name.
#[tool]
pub fn greet(#[secret(name = "api_key")] key: SecretString) -> Result<(), ToolError> {
    drop(key);
    Ok(())
}

fn main() {}
