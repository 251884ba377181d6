use tool_core::prelude::*;

/// The record `Filter` of this test.
#[derive(serde::Deserialize, StrictSchema)]
#[schema(deserialize)]
pub struct Filter {
    /// The field `lang` of `Filter`.
    pub lang: String,
}

fn main() {}
