use tool_core::prelude::*;

use std::collections::HashMap;

/// Tags a page, for this test.
#[tool(providers(gemini, mcp, json_schema))]
pub fn tag(
    /// The argument `tags` of the tool.
    tags: HashMap<String, String>,
) -> Result<usize, ToolError> {
    Ok(tags.len())
}

fn main() {}
