#![deny(warnings)]

use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
#[serde(untagged)]
pub enum Place {
    /// By name.
    Name(String),
    /// By its place.
    Point {
        /// Degrees to the north.
        lat: f64,
    },
    /// By its street.
    Street {
        /// The street.
        street: String,
    },
}

fn main() {}
