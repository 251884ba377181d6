use tool_core::prelude::*;

pub struct Plain;

/// Makes some.
#[tool]
pub async fn make(
    /// How many.
    many: u8,
) -> Result<Vec<Option<Plain>>, ToolError> {
    drop(many);
    Ok(vec![Some(Plain)])
}

fn main() {}
