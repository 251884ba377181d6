use tool_core::prelude::*;

#[derive(Debug, StrictSchema)]
#[serde(tag = "kind")]
pub enum Shape {
    /// The variant `Circle` of `Shape`.
    Circle {
        /// The field `kind` of `Circle`.
        kind: String,
    },
    /// The variant `Nothing` of `Shape`.
    Nothing,
}

fn main() {}
