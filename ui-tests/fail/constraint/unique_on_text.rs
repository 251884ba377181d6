use tool_core::prelude::*;

/// Lists all of the entries.
#[tool]
pub fn list(
    /// The argument `name` of the tool.
    #[arg(unique, max_items = 3)]
    name: String,
) -> Result<String, ToolError> {
    Ok(name)
}

fn main() {}
