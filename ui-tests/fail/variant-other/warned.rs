#![deny(warnings)]

use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub enum Lang {
    Rust,
    Go,
    #[serde(other)]
    Other,
}

fn main() {}
