use tool_core::prelude::*;

#[derive(Debug, Serialize, StrictSchema)]
pub struct Hit {
    /// The field `title` of `Hit`.
    pub title: String,
    /// The field `score` of `Hit`.
    pub score: f64,
}

/// Finds the pages that match.
#[tool(example("One", { "text": "a" } => [{ "title": "a" }]))]
pub fn find(
    /// The argument `text` of the tool.
    text: String,
) -> Result<Vec<Hit>, ToolError> {
    Ok(vec![Hit { title: text, score: 1.0 }])
}

fn main() {}
