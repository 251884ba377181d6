use tool_core::prelude::*;

/// Narrows a search.
#[derive(serde::Deserialize, StrictSchema)]
#[schema(deserialize)]
pub struct Filter {
    /// Language.
    pub lang: String,
}

fn main() {}
