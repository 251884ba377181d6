use tool_core::prelude::*;

/// Calls back, for this test.
#[tool]
pub fn call_back(
    /// The argument `callback` of the tool.
    callback: Vec<ui_foreign::Page<url::Url>>,
) -> Result<(), ToolError> {
    drop(callback);
    Ok(())
}

fn main() {}
