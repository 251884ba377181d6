use tool_core::prelude::*;

/// A page.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Page<T> {
    /// What is on it.
    #[schema(min_items = 1)]
    pub items: Vec<T>,
}

#[derive(Debug, Deserialize)]
pub struct Plain;

/// Two pages.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Book {
    /// The first.
    pub first: Option<Page<Plain>>,
    /// The second.
    pub second: Page<String>,
}

/// Reads.
#[tool]
pub fn read(
    /// Which.
    book: Book,
) -> Result<(), ToolError> {
    drop(book);
    Ok(())
}

fn main() {}
