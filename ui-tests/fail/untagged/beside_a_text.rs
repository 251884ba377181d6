#![deny(warnings)]

use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
#[serde(untagged)]
pub enum Place {
    /// The variant `Name` of `Place`.
    Name(String),
    /// The variant `Point` of `Place`.
    Point {
        /// The latitude in degrees.
        lat: f64,
    },
    /// The variant `Street` of `Place`.
    Street {
        /// The field `street` of `Street`.
        street: String,
    },
}

fn main() {}
