#![deny(warnings)]

use tool_core::prelude::*;

/// Counts all of the items.
#[tool]
pub fn count(
    /// The argument `many` of the tool.
    many: u128,
) -> Result<(), ToolError> {
    let _ = many;
    Ok(())
}

fn main() {}
