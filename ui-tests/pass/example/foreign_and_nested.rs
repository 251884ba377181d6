#![deny(warnings)]

use tool_core::prelude::*;

/// The enum `Shape` of this test.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, StrictSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Shape {
    /// The variant `Circle` of `Shape`.
    Circle {
        /// The field `radius` of `Circle`.
        #[schema(range = 0.0..)]
        radius: f64,
    },
    /// The variant `Nothing` of `Shape`.
    Nothing,
}

/// Draws the shape on a page.
#[tool(
    example("A circle", { "shapes": { "items": [{ "kind": "circle", "radius": 1 }], "next": null } } => [{ "kind": "nothing" }]),
    example("Nothing", { "shapes": { "items": [{ "kind": "nothing" }], "next": "2" }, "day": "2026-02-28" }),
)]
pub fn draw(
    /// The argument `shapes` of the tool.
    shapes: ui_foreign::Page<Shape>,
    /// The argument `day` of the tool.
    #[arg(format = "date")]
    day: Option<String>,
) -> Result<Vec<Shape>, ToolError> {
    let _ = day;
    Ok(shapes.items)
}

fn main() {}
