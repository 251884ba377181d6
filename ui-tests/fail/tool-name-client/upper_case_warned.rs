#![deny(warnings)]

use tool_core::prelude::*;

/// Searches.
#[tool(name = "searchDocs")]
pub fn search_docs(
    /// What.
    query: String,
) -> Result<String, ToolError> {
    Ok(query)
}

fn main() {}
