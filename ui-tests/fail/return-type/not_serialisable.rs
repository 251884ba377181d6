use tool_core::prelude::*;

pub struct Plain;

/// Returns a value, for this test.
#[tool]
pub fn make() -> Result<Plain, ToolError> {
    Ok(Plain)
}

fn main() {}
