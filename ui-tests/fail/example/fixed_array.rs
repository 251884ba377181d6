use tool_core::prelude::*;

/// Paints a surface in a colour.
#[tool(example("Red", { "color": [255, 0], "name": "red" }))]
pub fn paint(
    /// The argument `color` of the tool.
    color: [u16; 3],
    /// The argument `name` of the tool.
    name: String,
) -> Result<String, ToolError> {
    Ok(format!("{name} {color:?}"))
}

fn main() {}
