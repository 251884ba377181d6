#![deny(warnings)]

use tool_core::prelude::*;

/// Searches the index for pages.
#[tool(name = "searchDocs")]
pub fn search_docs(
    /// The argument `query` of the tool.
    query: String,
) -> Result<String, ToolError> {
    Ok(query)
}

fn main() {}
