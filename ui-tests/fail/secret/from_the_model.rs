use tool_core::prelude::*;

/// Greets a person by name.
#[tool]
pub fn greet(
    /// The argument `key` of the tool.
    key: SecretString,
) -> Result<(), ToolError> {
    drop(key);
    Ok(())
}

fn main() {}
