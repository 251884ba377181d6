use tool_core::prelude::*;

/// The enum `Shape` of this test.
#[derive(Debug, Deserialize, StrictSchema)]
#[serde(tag = "kind")]
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

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Drawing {
    /// The field `title` of `Drawing`.
    pub title: String,
    /// The field `shape` of `Drawing`.
    #[serde(flatten)]
    pub shape: Option<Shape>,
}

fn main() {}
