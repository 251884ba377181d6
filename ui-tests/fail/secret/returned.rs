use tool_core::prelude::*;

/// Leaks.
#[tool]
pub fn leak(#[secret("api_key")] key: SecretString) -> SecretString {
    key
}

fn main() {}
