#![deny(warnings)]

use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub enum Lang {
    Rust,
    Go,
    #[serde(other)]
    #[schema(allow(variant-other))]
    Other,
}

fn main() {}
