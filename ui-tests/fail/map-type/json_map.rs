use tool_core::prelude::*;

/// Stores.
#[tool]
pub fn store(
    /// What.
    record: serde_json::Map<String, serde_json::Value>,
) -> Result<usize, ToolError> {
    Ok(record.len())
}

fn main() {}
