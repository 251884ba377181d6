use tool_core::prelude::*;

/// Lists.
#[tool(example("Three", { limit: 3 }))]
pub fn list(
    /// How many.
    limit: u32,
) -> Result<u32, ToolError> {
    Ok(limit)
}

fn main() {}
