use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
#[serde(rename_all = "snake_case")]
pub enum Lang {
    Rust,
    Go,
}

/// Lists.
#[tool(example("Cobol", { "langs": ["rust", "cobol"] }))]
pub fn list(
    /// Languages.
    langs: Vec<Lang>,
) -> Result<usize, ToolError> {
    Ok(langs.len())
}

fn main() {}
