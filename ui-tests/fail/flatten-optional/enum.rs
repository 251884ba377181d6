use tool_core::prelude::*;

/// A shape.
#[derive(Debug, Deserialize, StrictSchema)]
#[serde(tag = "kind")]
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

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Drawing {
    /// Its title.
    pub title: String,
    /// What to draw.
    #[serde(flatten)]
    pub shape: Option<Shape>,
}

fn main() {}
