use tool_core::prelude::*;

/// The record `Index` of this test.
#[derive(Clone)]
pub struct Index;

/// Searches the index for pages.
#[tool]
pub async fn search(
    #[context] index: Index,
    /// The argument `query` of the tool.
    query: String,
) -> Result<String, ToolError> {
    drop(index);
    Ok(query)
}

fn main() {}
