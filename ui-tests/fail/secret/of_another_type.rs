use tool_core::prelude::*;

/// Greets a person by name.
#[tool]
pub fn greet(#[secret("api_key")] key: String) -> Result<(), ToolError> {
    drop(key);
    Ok(())
}

fn main() {}
