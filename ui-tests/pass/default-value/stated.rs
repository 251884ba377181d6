use tool_core::prelude::*;

/// A filter.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Filter {
    /// Language.
    #[schema(default = "rust")]
    pub lang: String,
    /// Tags.
    #[schema(default = [])]
    pub tags: Vec<String>,
}

/// Lists.
#[tool]
pub fn list(
    /// How many.
    #[arg(default = 10)]
    limit: u32,
    /// Narrow it.
    #[arg(default = { "lang": "go", "tags": ["a"] })]
    filter: Filter,
    /// How well.
    #[arg(default = -1.5)]
    score: f64,
) -> Result<String, ToolError> {
    Ok(format!("{limit} {filter:?} {score}"))
}

fn main() {}
