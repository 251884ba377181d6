#![deny(warnings)]

use tool_core::prelude::*;

/// Counts all of the items.
#[tool(allow(int-range))]
pub fn count(
    /// The argument `many` of the tool.
    many: u128,
) -> Result<(), ToolError> {
    let _ = many;
    Ok(())
}

/// Counts all of the items, with the rule allowed at one parameter.
#[tool]
pub fn count_signed(
    /// The argument `many` of the tool.
    #[arg(allow(int-range))]
    many: Option<i128>,
) -> Result<(), ToolError> {
    let _ = many;
    Ok(())
}

fn main() {}
