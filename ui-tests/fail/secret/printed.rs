use tool_core::prelude::*;

/// Leaks.
#[tool]
pub fn leak(#[secret("api_key")] key: SecretString) -> Result<String, ToolError> {
    Ok(format!("{key}"))
}

fn main() {}
