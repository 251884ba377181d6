use tool_core::prelude::*;

/// Greets a person by name.
#[tool]
pub fn greet(#[secret("mode", select("fast", ""))] mode: SecretString) -> Result<(), ToolError> {
    drop(mode);
    Ok(())
}

fn main() {}
