use tool_core::prelude::*;

/// Lists all of the entries.
#[tool]
pub fn list(
    /// The argument `größe` of the tool.
    größe: u8,
) -> Result<u8, ToolError> {
    Ok(größe)
}

fn main() {}
