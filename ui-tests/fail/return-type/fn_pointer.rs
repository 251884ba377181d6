use tool_core::prelude::*;

/// Makes one.
#[tool]
pub async fn make() -> Result<fn(), ToolError> {
    Ok(|| {})
}

fn main() {}
