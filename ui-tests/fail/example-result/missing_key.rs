use tool_core::prelude::*;

#[derive(Debug, Serialize, StrictSchema)]
pub struct Hit {
    /// Its title.
    pub title: String,
    /// Its score.
    pub score: f64,
}

/// Finds.
#[tool(example("One", { "text": "a" } => [{ "title": "a" }]))]
pub fn find(
    /// What.
    text: String,
) -> Result<Vec<Hit>, ToolError> {
    Ok(vec![Hit { title: text, score: 1.0 }])
}

fn main() {}
