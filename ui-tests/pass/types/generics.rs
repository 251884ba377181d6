use tool_core::prelude::*;

/// The record `Page` of this test.
#[derive(Debug, Deserialize, Serialize, StrictSchema)]
pub struct Page<T> {
    /// What is on it.
    pub items: Vec<T>,
    /// How many there are.
    pub total: Option<u32>,
}

/// The enum `Either` of this test.
#[derive(Debug, Deserialize, StrictSchema)]
#[serde(tag = "kind", content = "value", rename_all = "snake_case")]
pub enum Either<A, B> {
    /// The variant `Left` of `Either`: the one.
    Left(A),
    /// The variant `Right` of `Either`: the other.
    Right(B),
}

/// Takes pages, for this test.
#[tool]
pub fn take(
    /// The argument `page` of the tool.
    page: Page<Page<String>>,
    /// The argument `either` of the tool: one of two.
    either: Either<u8, ui_foreign::Page<bool>>,
) -> Result<String, ToolError> {
    Ok(format!("{page:?} {either:?}"))
}

fn main() {}
