use tool_core::prelude::*;

/// Lists all of the entries.
#[tool]
pub fn list(
    /// The argument `limit` of the tool.
    #[arg(range = 50..=1)]
    limit: u32,
) -> Result<u32, ToolError> {
    Ok(limit)
}

fn main() {}
