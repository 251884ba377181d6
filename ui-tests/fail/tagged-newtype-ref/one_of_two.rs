use tool_core::prelude::*;

/// The record `Circle` of this test.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Circle {
    /// The field `radius` of `Circle`.
    pub radius: f64,
}

#[derive(Debug, Deserialize, StrictSchema)]
#[serde(tag = "kind")]
pub enum Shape {
    /// The variant `Circle` of `Shape`.
    Circle(Circle),
    /// The variant `Other` of `Shape`.
    Other(String),
}

fn main() {}
