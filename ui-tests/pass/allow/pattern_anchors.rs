#![deny(warnings)]

use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Login {
    /// A word.
    #[schema(pattern = "[a-z]+", allow(pattern-anchors))]
    pub word: String,
}

fn main() {}
