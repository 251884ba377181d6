use tool_core::prelude::*;

/// The record `Index` of this test.
pub struct Index;

/// Searches the index for pages.
#[tool]
pub fn search(
    index: &Index,
    /// The argument `query` of the tool.
    query: String,
) -> Result<String, ToolError> {
    let _ = index;
    Ok(query)
}

fn main() {}
