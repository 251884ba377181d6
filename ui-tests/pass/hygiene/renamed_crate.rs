#![allow(unused_imports, reason = "the alias is the point")]

extern crate tool_core as sdk;

use sdk::prelude::*;

/// The record `Filter` of this test.
#[derive(Debug, Deserialize, StrictSchema)]
#[schema(crate = sdk)]
pub struct Filter {
    /// The field `word` of `Filter`.
    pub word: String,
}

/// Returns the argument to the caller.
#[tool(crate = sdk)]
pub fn echo(
    /// The argument `filter` of the tool.
    filter: Filter,
) -> Result<String, ToolError> {
    Ok(filter.word)
}

fn main() {}
