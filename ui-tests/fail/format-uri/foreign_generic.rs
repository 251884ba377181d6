use tool_core::prelude::*;

/// Calls back.
#[tool]
pub fn call_back(
    /// Where to call.
    callback: Vec<ui_foreign::Page<url::Url>>,
) -> Result<(), ToolError> {
    drop(callback);
    Ok(())
}

fn main() {}
