use tool_core::prelude::*;

/// Greets.
#[tool]
pub fn greet(
    /// A key.
    key: SecretString,
) -> Result<(), ToolError> {
    drop(key);
    Ok(())
}

fn main() {}
