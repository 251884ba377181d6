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

/// Four shapes.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Four {
    /// One.
    pub a: Shape,
    /// One.
    pub b: Shape,
    /// One.
    pub c: Shape,
    /// One.
    pub d: Shape,
}

/// Draws.
#[tool]
pub fn draw(
    /// First.
    first: Four,
    /// Second.
    second: Four,
    /// Third.
    third: Four,
    /// Fourth.
    fourth: Four,
) -> Result<(), ToolError> {
    drop((first, second, third, fourth));
    Ok(())
}

fn main() {}
