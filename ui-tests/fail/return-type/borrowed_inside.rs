use tool_core::prelude::*;

/// Greets a person by name.
#[tool]
pub async fn greet(
    /// The argument `whom` of the tool.
    whom: String,
) -> Result<Option<&str>, ToolError> {
    Ok(Some(&whom))
}

fn main() {}
