use tool_core::prelude::*;

/// Calls back, for this test.
#[tool]
pub fn call_back(
    /// The argument `callback` of the tool.
    callback: url::Url,
) -> Result<(), ToolError> {
    drop(callback);
    Ok(())
}

fn main() {}
