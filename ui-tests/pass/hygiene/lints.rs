//! Generated code causes no warning.
#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, clippy::pedantic)]

use tool_core::prelude::*;

/// The record `Filter` of this test.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, StrictSchema)]
pub struct Filter {
    /// The field `word` of `Filter`.
    #[schema(length = 1..=20)]
    pub word: String,
    /// The field `often` of `Filter`.
    #[schema(default = 3)]
    pub often: u32,
}

/// Echoes a word, for this test.
#[tool(example("One", { "filter": { "word": "a", "often": 1 } }))]
pub async fn echo(
    /// The text to return.
    filter: Filter,
    /// The loudness of the echo.
    #[arg(default = 1, range = 1..=3)]
    loud: u8,
) -> Result<String, ToolError> {
    Ok(format!("{} {loud}", filter.word))
}

fn main() {}
