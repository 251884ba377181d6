#![deny(warnings)]

use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
#[serde(rename_all = "snake_case")]
pub enum Value {
    /// A text.
    Text(String),
    /// A number.
    Number(f64),
}

fn main() {}
