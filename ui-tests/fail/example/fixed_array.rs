use tool_core::prelude::*;

/// Paints.
#[tool(example("Red", { "color": [255, 0], "name": "red" }))]
pub fn paint(
    /// The color.
    color: [u16; 3],
    /// Its name.
    name: String,
) -> Result<String, ToolError> {
    Ok(format!("{name} {color:?}"))
}

fn main() {}
