use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Filter {
    /// Language.
    pub lang: String,
}

/// Lists.
#[tool(example("Rust", { "filter": { "language": "rust" } }))]
pub fn list(
    /// Narrow it.
    filter: Filter,
) -> Result<String, ToolError> {
    Ok(filter.lang)
}

fn main() {}
