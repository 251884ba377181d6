use tool_core::prelude::*;

/// Greets.
#[tool]
pub fn greet(#[secret("mode", select())] mode: SecretString) -> Result<(), ToolError> {
    drop(mode);
    Ok(())
}

fn main() {}
