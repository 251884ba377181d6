#![deny(warnings)]

use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
#[serde(untagged)]
pub enum Place {
    /// The variant `Name` of `Place`: by name.
    Name(String),
    /// The variant `Point` of `Place`: by its place.
    Point {
        /// Degrees to the north.
        lat: f64,
    },
    /// The variant `Street` of `Place`: by its street.
    Street {
        /// The field `street` of `Street`.
        street: String,
    },
}

fn main() {}
