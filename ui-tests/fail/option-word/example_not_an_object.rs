use tool_core::prelude::*;

/// Lists all of the entries.
#[tool(example("A list", [3]))]
pub fn list(
    /// The argument `limit` of the tool.
    limit: u32,
) -> Result<u32, ToolError> {
    Ok(limit)
}

fn main() {}
