use tool_core::prelude::*;

/// A page.
#[derive(Debug, Deserialize, Serialize, StrictSchema)]
pub struct Page<T> {
    /// What is on it.
    pub items: Vec<T>,
    /// How many there are.
    pub total: Option<u32>,
}

/// Either.
#[derive(Debug, Deserialize, StrictSchema)]
#[serde(tag = "kind", content = "value", rename_all = "snake_case")]
pub enum Either<A, B> {
    /// The one.
    Left(A),
    /// The other.
    Right(B),
}

/// Takes pages.
#[tool]
pub fn take(
    /// Pages.
    page: Page<Page<String>>,
    /// One of two.
    either: Either<u8, ui_foreign::Page<bool>>,
) -> Result<String, ToolError> {
    Ok(format!("{page:?} {either:?}"))
}

fn main() {}
