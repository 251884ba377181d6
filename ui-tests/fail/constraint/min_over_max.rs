use tool_core::prelude::*;

/// Lists.
#[tool]
pub fn list(
    /// How many.
    #[arg(range = 50..=1)]
    limit: u32,
) -> Result<u32, ToolError> {
    Ok(limit)
}

fn main() {}
