use tool_core::prelude::*;

/// Paints.
#[tool(example("Red", { "color": [255, 0, "a"] }))]
pub fn paint(
    /// The color.
    color: [u16; 3],
) -> Result<String, ToolError> {
    Ok(format!("{color:?}"))
}

fn main() {}
