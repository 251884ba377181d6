use tool_core::prelude::*;

/// Lists.
#[tool(example("Twice", { "limit": 1, "limit": 2 }))]
pub fn list(
    /// How many.
    limit: u32,
) -> Result<u32, ToolError> {
    Ok(limit)
}

fn main() {}
