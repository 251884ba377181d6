use tool_core::prelude::*;

#[derive(Debug, Serialize, StrictSchema)]
pub struct Place {
    /// The city.
    pub city: String,
    /// The house.
    pub house: u16,
}

#[derive(Debug, Serialize, StrictSchema)]
pub struct Hit {
    /// Its title.
    pub title: String,
    /// Where.
    pub place: Place,
}

/// Finds.
#[tool(example("One", { "text": "a" } => [{ "title": "a", "place": { "city": "Bonn", "house": "1a" } }]))]
pub fn find(
    /// What.
    text: String,
) -> Result<Vec<Hit>, ToolError> {
    drop(text);
    Ok(Vec::new())
}

fn main() {}
