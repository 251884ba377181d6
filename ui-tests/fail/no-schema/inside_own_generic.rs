use tool_core::prelude::*;

/// The record `Page` of this test.
#[derive(Debug, Deserialize, Serialize, StrictSchema)]
pub struct Page<T> {
    /// The items on the page.
    pub items: Vec<T>,
    /// The start of the next page.
    pub next: Option<String>,
}

pub struct Plain;

/// Reads the value and returns it.
#[tool]
pub async fn read(
    /// The argument `page` of the tool.
    page: Page<Plain>,
) -> Result<usize, ToolError> {
    Ok(page.items.len())
}

fn main() {}
