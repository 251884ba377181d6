use tool_core::prelude::*;

/// A circle.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Circle {
    /// Which kind of circle.
    pub kind: String,
}

#[derive(Debug, Deserialize, StrictSchema)]
#[serde(tag = "kind")]
pub enum Shape {
    /// Nothing.
    Nothing,
    /// A circle.
    Circle(Circle),
}

fn main() {}
