use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Page<T> {
    /// Items.
    pub items: Vec<T>,
    /// Which.
    #[schema(as = String)]
    pub number: u32,
}

/// Reads a page.
#[tool]
pub fn read(
    /// The page.
    page: Page<String>,
) -> u32 {
    page.number
}

fn main() {}
