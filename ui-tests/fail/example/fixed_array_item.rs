use tool_core::prelude::*;

/// Paints a surface in a colour.
#[tool(example("Red", { "color": [255, 0, "a"] }))]
pub fn paint(
    /// The argument `color` of the tool.
    color: [u16; 3],
) -> Result<String, ToolError> {
    Ok(format!("{color:?}"))
}

fn main() {}
