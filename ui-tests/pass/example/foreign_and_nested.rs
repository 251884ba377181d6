#![deny(warnings)]

use tool_core::prelude::*;

/// A shape.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, StrictSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Shape {
    /// A circle.
    Circle {
        /// Its radius.
        #[schema(range = 0.0..)]
        radius: f64,
    },
    /// Nothing.
    Nothing,
}

/// Draws.
#[tool(
    example("A circle", { "shapes": { "items": [{ "kind": "circle", "radius": 1 }], "next": null } } => [{ "kind": "nothing" }]),
    example("Nothing", { "shapes": { "items": [{ "kind": "nothing" }], "next": "2" }, "day": "2026-02-28" }),
)]
pub fn draw(
    /// Shapes.
    shapes: ui_foreign::Page<Shape>,
    /// A day.
    #[arg(format = "date")]
    day: Option<String>,
) -> Result<Vec<Shape>, ToolError> {
    let _ = day;
    Ok(shapes.items)
}

fn main() {}
