#![deny(warnings)]

use tool_core::prelude::*;

/// Counts.
#[tool]
pub fn count(
    /// How many.
    many: u128,
) -> Result<(), ToolError> {
    let _ = many;
    Ok(())
}

fn main() {}
