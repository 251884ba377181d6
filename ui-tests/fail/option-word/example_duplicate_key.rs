use tool_core::prelude::*;

/// Lists all of the entries.
#[tool(example("Twice", { "limit": 1, "limit": 2 }))]
pub fn list(
    /// The argument `limit` of the tool.
    limit: u32,
) -> Result<u32, ToolError> {
    Ok(limit)
}

fn main() {}
