#![deny(warnings)]

use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
#[serde(untagged)]
pub enum Place {
    /// By name.
    Name {
        /// Its name.
        name: String,
    },
    /// By number.
    Number {
        /// Its number.
        number: u32,
    },
}

fn main() {}
