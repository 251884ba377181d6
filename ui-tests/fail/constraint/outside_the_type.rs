use tool_core::prelude::*;

/// Lists all of the entries.
#[tool]
pub fn list(
    /// The argument `limit` of the tool.
    #[arg(range = 0..=300)]
    limit: u8,
) -> Result<u8, ToolError> {
    Ok(limit)
}

fn main() {}
