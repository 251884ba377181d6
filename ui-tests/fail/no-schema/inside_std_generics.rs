use tool_core::prelude::*;

pub struct Id(pub u32);

/// Reads the value and returns it.
#[tool]
pub fn read(
    /// The argument `ids` of the tool.
    ids: Option<Vec<Id>>,
) -> Result<usize, ToolError> {
    Ok(ids.map_or(0, |ids| ids.len()))
}

fn main() {}
