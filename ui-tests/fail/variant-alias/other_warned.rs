use tool_core::prelude::*;

#![deny(warnings)]

#[derive(Debug, Deserialize, StrictSchema)]
pub enum Lang {
    Rust,
    Go,
    #[serde(other)]
    Other,
}

fn main() {}
