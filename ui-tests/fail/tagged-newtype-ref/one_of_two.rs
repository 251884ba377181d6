use tool_core::prelude::*;

/// A circle.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Circle {
    /// Its radius.
    pub radius: f64,
}

#[derive(Debug, Deserialize, StrictSchema)]
#[serde(tag = "kind")]
pub enum Shape {
    /// A circle.
    Circle(Circle),
    /// Another, by name.
    Other(String),
}

fn main() {}
