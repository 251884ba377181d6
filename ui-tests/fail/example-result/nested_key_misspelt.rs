use tool_core::prelude::*;

#[derive(Debug, Serialize, StrictSchema)]
pub struct Place {
    /// The field `city` of `Place`.
    pub city: String,
}

#[derive(Debug, Serialize, StrictSchema)]
pub struct Hit {
    /// The field `place` of `Hit`.
    pub place: Place,
}

/// Finds the pages that match.
#[tool(example("One", { "text": "a" } => { "place": { "town": "Bonn" } }))]
pub fn find(
    /// The argument `text` of the tool.
    text: String,
) -> Result<Hit, ToolError> {
    Ok(Hit { place: Place { city: text } })
}

fn main() {}
