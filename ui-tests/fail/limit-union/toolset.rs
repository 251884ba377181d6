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

/// The tool `one` of this test.
#[tool]
pub fn one(
    /// The argument `first` of the tool.
    first: Four,
    /// The argument `second` of the tool.
    second: Four,
) -> Result<(), ToolError> {
    drop((first, second));
    Ok(())
}

/// The tool `two` of this test.
#[tool]
pub fn two(
    /// The argument `first` of the tool.
    first: Four,
    /// The argument `second` of the tool.
    second: Four,
) -> Result<(), ToolError> {
    drop((first, second));
    Ok(())
}

fn main() {
    let _ = toolset![one, two];
}
