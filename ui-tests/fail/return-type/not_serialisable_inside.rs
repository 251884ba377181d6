use tool_core::prelude::*;

pub struct Plain;

/// Returns several values, for this test.
#[tool]
pub async fn make(
    /// The argument `many` of the tool.
    many: u8,
) -> Result<Vec<Option<Plain>>, ToolError> {
    drop(many);
    Ok(vec![Some(Plain)])
}

fn main() {}
