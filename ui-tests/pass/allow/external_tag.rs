#![deny(warnings)]

use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
#[schema(allow(external-tag))]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// The variant `Circle` of `Shape`.
    Circle {
        /// The field `radius` of `Circle`.
        radius: f64,
    },
    /// The variant `Nothing` of `Shape`.
    Nothing,
}

fn main() {}
