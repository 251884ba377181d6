use tool_core::prelude::*;

/// Lists.
#[tool]
pub fn list(
    /// How many.
    limit: u8,
    /// How many.
    #[arg(rename = "limit")]
    max: u8,
) -> Result<u8, ToolError> {
    Ok(max.min(limit))
}

fn main() {}
