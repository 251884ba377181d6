#![deny(warnings)]

use tool_core::prelude::*;

/// Counts.
#[tool(allow(int-range))]
pub fn count(
    /// How many.
    many: u128,
) -> Result<(), ToolError> {
    let _ = many;
    Ok(())
}

/// Counts, allowed at the one parameter.
#[tool]
pub fn count_signed(
    /// How many.
    #[arg(allow(int-range))]
    many: Option<i128>,
) -> Result<(), ToolError> {
    let _ = many;
    Ok(())
}

fn main() {}
