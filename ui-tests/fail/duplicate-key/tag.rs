use tool_core::prelude::*;

#[derive(Debug, StrictSchema)]
#[serde(tag = "kind")]
pub enum Shape {
    /// A circle.
    Circle {
        /// Its kind.
        kind: String,
    },
    /// Nothing.
    Nothing,
}

fn main() {}
