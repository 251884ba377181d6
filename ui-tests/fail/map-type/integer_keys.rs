use std::collections::BTreeMap;

use tool_core::prelude::*;

/// Counts all of the items.
#[tool]
pub fn count(
    /// The number of items of each kind.
    many: BTreeMap<u32, u32>,
) -> Result<usize, ToolError> {
    Ok(many.len())
}

fn main() {}
