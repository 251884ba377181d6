use tool_core::prelude::*;

/// Stores the values under their names.
#[tool]
pub fn store(
    /// The argument `record` of the tool.
    record: serde_json::Map<String, serde_json::Value>,
) -> Result<usize, ToolError> {
    Ok(record.len())
}

fn main() {}
