#![deny(warnings)]

use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
#[serde(untagged)]
pub enum Place {
    /// The variant `Name` of `Place`.
    Name {
        /// The field `name` of `Name`.
        name: String,
    },
    /// The variant `Number` of `Place`.
    Number {
        /// The field `number` of `Number`.
        number: u32,
    },
}

fn main() {}
