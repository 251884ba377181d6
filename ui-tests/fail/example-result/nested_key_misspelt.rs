use tool_core::prelude::*;

#[derive(Debug, Serialize, StrictSchema)]
pub struct Place {
    /// The city.
    pub city: String,
}

#[derive(Debug, Serialize, StrictSchema)]
pub struct Hit {
    /// Where.
    pub place: Place,
}

/// Finds.
#[tool(example("One", { "text": "a" } => { "place": { "town": "Bonn" } }))]
pub fn find(
    /// What.
    text: String,
) -> Result<Hit, ToolError> {
    Ok(Hit { place: Place { city: text } })
}

fn main() {}
