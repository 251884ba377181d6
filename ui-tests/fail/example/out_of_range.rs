use tool_core::prelude::*;

/// Lists.
#[tool(example("Ninety", { "limit": 90 }))]
pub fn list(
    /// How many.
    #[arg(range = 1..=50)]
    limit: u32,
) -> Result<u32, ToolError> {
    Ok(limit)
}

fn main() {}
