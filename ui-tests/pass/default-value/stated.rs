use tool_core::prelude::*;

/// The record `Filter` of this test.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Filter {
    /// The field `lang` of `Filter`.
    #[schema(default = "rust")]
    pub lang: String,
    /// The field `tags` of `Filter`.
    #[schema(default = [])]
    pub tags: Vec<String>,
}

/// Lists all of the entries.
#[tool]
pub fn list(
    /// The argument `limit` of the tool.
    #[arg(default = 10)]
    limit: u32,
    /// The filter for the search.
    #[arg(default = { "lang": "go", "tags": ["a"] })]
    filter: Filter,
    /// The minimum score.
    #[arg(default = -1.5)]
    score: f64,
) -> Result<String, ToolError> {
    Ok(format!("{limit} {filter:?} {score}"))
}

fn main() {}
