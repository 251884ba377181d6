use tool_core::prelude::*;

/// Searches the index for pages.
#[tool]
pub fn search(
    /// The argument `n` of the tool.
    #[arg(default = 3)]
    n: Option<u32>,
) -> Result<u32, ToolError> {
    Ok(n.unwrap_or(0))
}

fn main() {}
