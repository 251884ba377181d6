use tool_core::prelude::*;

/// The record `Filter` of this test.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Filter {
    /// The field `lang` of `Filter`.
    pub lang: String,
    /// The field `tags` of `Filter`.
    pub tags: Vec<String>,
}

/// Lists all of the entries.
#[tool]
pub fn list(
    /// The argument `filter` of the tool.
    #[arg(default = { "lang": "rust" })]
    filter: Filter,
) -> Result<String, ToolError> {
    Ok(filter.lang)
}

fn main() {}
