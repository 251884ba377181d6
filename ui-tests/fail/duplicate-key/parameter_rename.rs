use tool_core::prelude::*;

/// Lists all of the entries.
#[tool]
pub fn list(
    /// The argument `limit` of the tool.
    limit: u8,
    /// The argument `max` of the tool.
    #[arg(rename = "limit")]
    max: u8,
) -> Result<u8, ToolError> {
    Ok(max.min(limit))
}

fn main() {}
