//! Generated code is clean.
#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, clippy::pedantic)]

use tool_core::prelude::*;

/// A filter.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, StrictSchema)]
pub struct Filter {
    /// A word.
    #[schema(length = 1..=20)]
    pub word: String,
    /// How often.
    #[schema(default = 3)]
    pub often: u32,
}

/// Echoes a word.
#[tool(example("One", { "filter": { "word": "a", "often": 1 } }))]
pub async fn echo(
    /// What to echo.
    filter: Filter,
    /// How loud.
    #[arg(default = 1, range = 1..=3)]
    loud: u8,
) -> Result<String, ToolError> {
    Ok(format!("{} {loud}", filter.word))
}

fn main() {}
