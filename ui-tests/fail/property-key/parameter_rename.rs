use tool_core::prelude::*;

/// Lists.
#[tool]
pub fn list(
    /// How many.
    #[arg(rename = "max results")]
    max: u8,
) -> Result<u8, ToolError> {
    Ok(max)
}

fn main() {}
