use tool_core::prelude::*;

/// A shape.
#[derive(Debug, Deserialize, StrictSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Shape {
    /// A circle.
    Circle {
        /// Its radius.
        radius: f64,
    },
    /// A square.
    Square {
        /// Its side.
        side: f64,
    },
}

/// Draws.
#[tool(
    example("Round", { "shapes": [{ "kind": "circle", "radius": 1.5 }] }),
    example("Without its kind", { "shapes": [{ "radius": 1.5 }] }),
)]
pub fn draw(
    /// Shapes.
    shapes: Vec<Shape>,
) -> Result<usize, ToolError> {
    Ok(shapes.len())
}

fn main() {}
