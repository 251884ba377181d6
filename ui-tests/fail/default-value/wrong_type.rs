use tool_core::prelude::*;

/// Lists.
#[tool]
pub fn list(
    /// How many.
    #[arg(default = "ten")]
    limit: u32,
) -> Result<u32, ToolError> {
    Ok(limit)
}

fn main() {}
