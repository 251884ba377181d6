use tool_core::prelude::*;

#![deny(warnings)]

/// A shape.
#[derive(Debug, Deserialize, StrictSchema)]
#[serde(rename_all = "snake_case")]
#[schema(allow(external_tag))]
pub enum Shape {
    /// A circle.
    Circle {
        /// Its radius.
        radius: f64,
    },
    /// Nothing.
    Nothing,
}

/// Draws a shape.
#[tool(allow(tool_name_client))]
pub fn draw_a_shape_with_a_name_that_is_longer_than_fifty_letters(
    /// What to draw.
    shape: Shape,
) -> Result<(), ToolError> {
    drop(shape);
    Ok(())
}

fn main() {}
