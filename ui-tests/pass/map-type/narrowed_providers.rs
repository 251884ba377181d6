use tool_core::prelude::*;

use std::collections::HashMap;

/// Tags a page.
#[tool(providers(gemini, mcp, json_schema))]
pub fn tag(
    /// Tags.
    tags: HashMap<String, String>,
) -> Result<usize, ToolError> {
    Ok(tags.len())
}

fn main() {}
