use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Filter {
    /// Language.
    pub lang: String,
    /// Tags.
    pub tags: Vec<String>,
}

/// Lists.
#[tool(example("Rust", { "filter": { "lang": "rust" } }))]
pub fn list(
    /// Narrow it.
    filter: Filter,
) -> Result<String, ToolError> {
    Ok(filter.lang)
}

fn main() {}
