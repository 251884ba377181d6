use tool_core::prelude::*;

/// Lists all of the entries.
#[tool(example("Three", { "limit": 3, "page": 1 }))]
pub fn list(
    /// The argument `limit` of the tool.
    limit: u32,
) -> Result<u32, ToolError> {
    Ok(limit)
}

fn main() {}
