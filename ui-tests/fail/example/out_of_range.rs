use tool_core::prelude::*;

/// Lists all of the entries.
#[tool(example("Ninety", { "limit": 90 }))]
pub fn list(
    /// The argument `limit` of the tool.
    #[arg(range = 1..=50)]
    limit: u32,
) -> Result<u32, ToolError> {
    Ok(limit)
}

fn main() {}
