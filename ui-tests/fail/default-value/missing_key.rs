use tool_core::prelude::*;

/// A filter.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Filter {
    /// Language.
    pub lang: String,
    /// Tags.
    pub tags: Vec<String>,
}

/// Lists.
#[tool]
pub fn list(
    /// Narrow it.
    #[arg(default = { "lang": "rust" })]
    filter: Filter,
) -> Result<String, ToolError> {
    Ok(filter.lang)
}

fn main() {}
