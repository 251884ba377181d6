use tool_core::prelude::*;

/// Makes one, for this test.
#[tool]
pub async fn make() -> Result<fn(), ToolError> {
    Ok(|| {})
}

fn main() {}
