use tool_core::prelude::*;

/// An index.
pub struct Index;

/// Searches.
#[tool]
pub fn search(
    index: &Index,
    /// What.
    query: String,
) -> Result<String, ToolError> {
    let _ = index;
    Ok(query)
}

fn main() {}
