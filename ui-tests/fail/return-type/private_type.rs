#![allow(private_interfaces)]

use tool_core::prelude::*;

#[derive(Debug, Serialize, StrictSchema)]
struct Hit {
    /// Language.
    lang: String,
}

/// Lists.
#[tool]
pub fn list() -> Result<Vec<Hit>, ToolError> {
    Ok(Vec::new())
}

fn main() {}
