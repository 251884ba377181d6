use tool_core::prelude::*;

/// Lists.
#[tool]
pub fn list(
    /// How many.
    #[arg(range = 0..=300)]
    limit: u8,
) -> Result<u8, ToolError> {
    Ok(limit)
}

fn main() {}
