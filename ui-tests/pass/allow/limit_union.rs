#![deny(warnings)]

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

/// Three shapes.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Three {
    /// One.
    pub a: Shape,
    /// One.
    pub b: Shape,
    /// One.
    pub c: Shape,
}

/// Draws.
#[tool(allow(limit-union))]
pub fn draw(
    /// First.
    first: Three,
    /// Second.
    second: Three,
    /// Third.
    third: Three,
) -> Result<(), ToolError> {
    drop((first, second, third));
    Ok(())
}

fn main() {}
