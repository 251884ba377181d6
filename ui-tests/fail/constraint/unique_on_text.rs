use tool_core::prelude::*;

/// Lists.
#[tool]
pub fn list(
    /// A name.
    #[arg(unique, max_items = 3)]
    name: String,
) -> Result<String, ToolError> {
    Ok(name)
}

fn main() {}
