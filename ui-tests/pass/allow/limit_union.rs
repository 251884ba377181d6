#![deny(warnings)]

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

/// A record of three shapes.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Three {
    /// The field `a` of `Three`.
    pub a: Shape,
    /// The field `b` of `Three`.
    pub b: Shape,
    /// The field `c` of `Three`.
    pub c: Shape,
}

/// Draws the shape on a page.
#[tool(allow(limit-union))]
pub fn draw(
    /// The argument `first` of the tool.
    first: Three,
    /// The argument `second` of the tool.
    second: Three,
    /// The argument `third` of the tool.
    third: Three,
) -> Result<(), ToolError> {
    drop((first, second, third));
    Ok(())
}

fn main() {}
