use tool_core::prelude::*;

/// The record `Filter` of this test.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Filter {
    #[doc = include_str!("unknown.rs")]
    pub lang: String,
}

fn main() {}
