use tool_core::prelude::*;

/// Returns a value, for this test.
#[tool]
pub async fn make() -> Result<fn(), ToolError> {
    Ok(|| {})
}

fn main() {}
