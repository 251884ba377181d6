use tool_core::prelude::*;

/// Stores anything.
#[tool]
pub fn store(
    /// What to store.
    value: serde_json::Value,
) -> Result<(), ToolError> {
    drop(value);
    Ok(())
}

fn main() {}
