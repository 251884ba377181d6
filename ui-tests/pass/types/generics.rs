use tool_core::prelude::*;

/// The record `Page` of this test.
#[derive(Debug, Deserialize, Serialize, StrictSchema)]
pub struct Page<T> {
    /// The items on the page.
    pub items: Vec<T>,
    /// The number of all items.
    pub total: Option<u32>,
}

/// The enum `Either` of this test.
#[derive(Debug, Deserialize, StrictSchema)]
#[serde(tag = "kind", content = "value", rename_all = "snake_case")]
pub enum Either<A, B> {
    /// The first alternative.
    Left(A),
    /// The second alternative.
    Right(B),
}

/// Takes pages, for this test.
#[tool]
pub fn take(
    /// The argument `page` of the tool.
    page: Page<Page<String>>,
    /// One of two values.
    either: Either<u8, ui_foreign::Page<bool>>,
) -> Result<String, ToolError> {
    Ok(format!("{page:?} {either:?}"))
}

fn main() {}
