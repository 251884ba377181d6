use tool_core::prelude::*;

pub struct Id(pub u32);

/// Reads.
#[tool]
pub fn read(
    /// Which.
    ids: Option<Vec<Id>>,
) -> Result<usize, ToolError> {
    Ok(ids.map_or(0, |ids| ids.len()))
}

fn main() {}
