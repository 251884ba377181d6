use tool_core::prelude::*;

#![deny(warnings)]

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Login {
    /// A word.
    #[schema(pattern = "[a-z]+")]
    pub word: String,
}

fn main() {}
