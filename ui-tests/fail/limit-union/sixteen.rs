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

/// The record `Four` of this test.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Four {
    /// The field `a` of `Four`.
    pub a: Shape,
    /// The field `b` of `Four`.
    pub b: Shape,
    /// The field `c` of `Four`.
    pub c: Shape,
    /// The field `d` of `Four`.
    pub d: Shape,
}

/// Draws the shape on a page.
#[tool]
pub fn draw(
    /// The argument `first` of the tool.
    first: Four,
    /// The argument `second` of the tool.
    second: Four,
    /// The argument `third` of the tool.
    third: Four,
    /// The argument `fourth` of the tool.
    fourth: Four,
) -> Result<(), ToolError> {
    drop((first, second, third, fourth));
    Ok(())
}

fn main() {}
