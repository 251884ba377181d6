use tool_core::prelude::*;

/// Narrows.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Filter {
    #[doc = include_str!("unknown.rs")]
    pub lang: String,
}

fn main() {}
