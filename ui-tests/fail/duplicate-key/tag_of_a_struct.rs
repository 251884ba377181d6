use tool_core::prelude::*;

/// The record `Circle` of this test.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Circle {
    /// The kind of the circle.
    pub kind: String,
}

#[derive(Debug, Deserialize, StrictSchema)]
#[serde(tag = "kind")]
pub enum Shape {
    /// The variant `Nothing` of `Shape`.
    Nothing,
    /// The variant `Circle` of `Shape`.
    Circle(Circle),
}

fn main() {}
