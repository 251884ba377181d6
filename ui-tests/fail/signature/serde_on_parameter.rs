use tool_core::prelude::*;

/// Lists.
#[tool]
pub fn list(
    /// How many.
    #[serde(default)]
    limit: u8,
) -> Result<u8, ToolError> {
    Ok(limit)
}

fn main() {}
