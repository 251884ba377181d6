#![allow(unused_imports, reason = "the alias is the point")]

extern crate tool_core as sdk;

use sdk::prelude::*;

/// A filter.
#[derive(Debug, Deserialize, StrictSchema)]
#[schema(crate = sdk)]
pub struct Filter {
    /// A word.
    pub word: String,
}

/// Echoes.
#[tool(crate = sdk)]
pub fn echo(
    /// A filter.
    filter: Filter,
) -> Result<String, ToolError> {
    Ok(filter.word)
}

fn main() {}
