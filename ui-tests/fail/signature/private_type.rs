#![allow(private_interfaces)]

use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
struct Filter {
    /// Language.
    lang: String,
}

/// Lists.
#[tool]
pub fn list(
    /// How many.
    many: u8,
    /// Narrow it.
    filter: Filter,
) -> Result<String, ToolError> {
    drop(many);
    Ok(filter.lang)
}

fn main() {}
