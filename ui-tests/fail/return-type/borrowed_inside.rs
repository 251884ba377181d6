use tool_core::prelude::*;

/// Greets.
#[tool]
pub async fn greet(
    /// Whom.
    whom: String,
) -> Result<Option<&str>, ToolError> {
    Ok(Some(&whom))
}

fn main() {}
