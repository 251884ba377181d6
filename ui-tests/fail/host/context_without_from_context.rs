use tool_core::prelude::*;

/// An index.
#[derive(Clone)]
pub struct Index;

/// Searches.
#[tool]
pub async fn search(
    #[context] index: Index,
    /// What.
    query: String,
) -> Result<String, ToolError> {
    drop(index);
    Ok(query)
}

fn main() {}
