use tool_core::prelude::*;

#[derive(Debug, Serialize, StrictSchema)]
pub struct Place {
    /// The field `city` of `Place`.
    pub city: String,
    /// The field `house` of `Place`.
    pub house: u16,
}

#[derive(Debug, Serialize, StrictSchema)]
pub struct Hit {
    /// The field `title` of `Hit`.
    pub title: String,
    /// The field `place` of `Hit`.
    pub place: Place,
}

/// Finds the pages that match.
#[tool(example("One", { "text": "a" } => [{ "title": "a", "place": { "city": "Bonn", "house": "1a" } }]))]
pub fn find(
    /// The argument `text` of the tool.
    text: String,
) -> Result<Vec<Hit>, ToolError> {
    drop(text);
    Ok(Vec::new())
}

fn main() {}
