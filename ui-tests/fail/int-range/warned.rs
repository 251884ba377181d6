use tool_core::prelude::*;

#![deny(warnings)]

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
