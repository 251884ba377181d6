use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
#[serde(rename_all = "snake_case")]
pub enum Lang {
    Rust,
    Go,
}

/// Lists all of the entries.
#[tool(example("Cobol", { "langs": ["rust", "cobol"] }))]
pub fn list(
    /// The argument `langs` of the tool.
    langs: Vec<Lang>,
) -> Result<usize, ToolError> {
    Ok(langs.len())
}

fn main() {}
