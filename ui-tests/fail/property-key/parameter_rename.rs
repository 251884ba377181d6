use tool_core::prelude::*;

/// Lists all of the entries.
#[tool]
pub fn list(
    /// The argument `max` of the tool.
    #[arg(rename = "max results")]
    max: u8,
) -> Result<u8, ToolError> {
    Ok(max)
}

fn main() {}
