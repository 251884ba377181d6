use tool_core::prelude::*;

/// Greets.
#[tool]
pub async fn greet(
    /// Name.
    whom: String,
) -> Result<Option<&str>, ToolError> {
    Ok(Some(&whom))
}

fn main() {}
