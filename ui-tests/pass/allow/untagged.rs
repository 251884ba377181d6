#![deny(warnings)]

use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
#[serde(untagged)]
#[schema(allow(untagged))]
pub enum Place {
    /// A place by its name.
    Name {
        /// The field `name` of `Name`.
        name: String,
    },
    /// A place by its number.
    Number {
        /// The field `number` of `Number`.
        number: u32,
    },
}

fn main() {}
