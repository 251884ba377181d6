use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Filter {
    /// The field `lang` of `Filter`.
    pub lang: String,
    /// The field `tags` of `Filter`.
    pub tags: Vec<String>,
}

/// Lists all of the entries.
#[tool(example("Rust", { "filter": { "lang": "rust" } }))]
pub fn list(
    /// The argument `filter` of the tool.
    filter: Filter,
) -> Result<String, ToolError> {
    Ok(filter.lang)
}

fn main() {}
