use tool_core::prelude::*;

/// The record `Page` of this test.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Page<T> {
    /// The items on the page.
    #[schema(min_items = 1)]
    pub items: Vec<T>,
}

#[derive(Debug, Deserialize)]
pub struct Plain;

/// The record `Book` of this test.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Book {
    /// The field `first` of `Book`.
    pub first: Option<Page<Plain>>,
    /// The field `second` of `Book`.
    pub second: Page<String>,
}

/// Reads the value and returns it.
#[tool]
pub fn read(
    /// The argument `book` of the tool.
    book: Book,
) -> Result<(), ToolError> {
    drop(book);
    Ok(())
}

fn main() {}
