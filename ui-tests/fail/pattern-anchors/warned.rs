#![deny(warnings)]

use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Login {
    /// The field `word` of `Login`.
    #[schema(pattern = "[a-z]+")]
    pub word: String,
}

fn main() {}
