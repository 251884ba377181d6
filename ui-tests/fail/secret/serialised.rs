use tool_core::prelude::*;

/// Leaks.
#[tool]
pub fn leak(#[secret("api_key")] key: SecretString) -> Result<SecretString, ToolError> {
    Ok(key)
}

fn main() {}
