use tool_core::prelude::*;

/// The tool `leak` of this test.
#[tool]
pub fn leak(#[secret("api_key")] key: SecretString) -> Result<SecretString, ToolError> {
    Ok(key)
}

fn main() {}
