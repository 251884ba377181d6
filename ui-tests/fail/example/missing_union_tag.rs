use tool_core::prelude::*;

/// The enum `Shape` of this test.
#[derive(Debug, Deserialize, StrictSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Shape {
    /// The variant `Circle` of `Shape`.
    Circle {
        /// The field `radius` of `Circle`.
        radius: f64,
    },
    /// The variant `Square` of `Shape`.
    Square {
        /// The field `side` of `Square`.
        side: f64,
    },
}

/// Draws the shape on a page.
#[tool(
    example("Round", { "shapes": [{ "kind": "circle", "radius": 1.5 }] }),
    example("Without its kind", { "shapes": [{ "radius": 1.5 }] }),
)]
pub fn draw(
    /// The argument `shapes` of the tool.
    shapes: Vec<Shape>,
) -> Result<usize, ToolError> {
    Ok(shapes.len())
}

fn main() {}
