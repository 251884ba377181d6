use tool_core::prelude::*;

/// Lists.
#[tool]
pub fn list(
    /// How many.
    #[arg(rnage = 0..=3)]
    limit: u8,
) -> Result<u8, ToolError> {
    Ok(limit)
}

fn main() {}
