#![deny(warnings)]

use tool_core::prelude::*;

/// Greets a person by name.
#[tool(allow(tool-name-client))]
pub fn a_tool_name_that_is_longer_than_fifty_characters_in_all() -> Result<(), ToolError> {
    Ok(())
}

fn main() {}
