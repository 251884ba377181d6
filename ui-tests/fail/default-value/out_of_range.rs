use tool_core::prelude::*;

/// Lists.
#[tool]
pub fn list(
    /// How many.
    #[arg(default = 100, range = 1..=50)]
    limit: u32,
) -> Result<u32, ToolError> {
    Ok(limit)
}

fn main() {}
