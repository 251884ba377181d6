use tool_core::prelude::*;

/// Lists.
#[tool]
pub fn list(
    /// How many.
    größe: u8,
) -> Result<u8, ToolError> {
    Ok(größe)
}

fn main() {}
