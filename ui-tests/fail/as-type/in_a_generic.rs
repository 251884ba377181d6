use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Page<T> {
    /// The field `items` of `Page`.
    pub items: Vec<T>,
    /// The field `number` of `Page`.
    #[schema(as = String)]
    pub number: u32,
}

/// Reads a page, for this test.
#[tool]
pub fn read(
    /// The argument `page` of the tool.
    page: Page<String>,
) -> u32 {
    page.number
}

fn main() {}
