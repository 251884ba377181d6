use tool_core::prelude::*;

/// Stores anything, for this test.
#[tool]
pub fn store(
    /// The argument `value` of the tool.
    value: serde_json::Value,
) -> Result<(), ToolError> {
    drop(value);
    Ok(())
}

fn main() {}
