use tool_core::prelude::*;

/// Searches.
#[tool]
pub fn search(
    /// How many.
    #[arg(default = 3)]
    n: Option<u32>,
) -> Result<u32, ToolError> {
    Ok(n.unwrap_or(0))
}

fn main() {}
