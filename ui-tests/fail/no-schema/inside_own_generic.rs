use tool_core::prelude::*;

/// A page.
#[derive(Debug, Deserialize, Serialize, StrictSchema)]
pub struct Page<T> {
    /// What is on it.
    pub items: Vec<T>,
    /// Where the next one begins.
    pub next: Option<String>,
}

pub struct Plain;

/// Reads.
#[tool]
pub async fn read(
    /// Which.
    page: Page<Plain>,
) -> Result<usize, ToolError> {
    Ok(page.items.len())
}

fn main() {}
