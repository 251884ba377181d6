use tool_core::prelude::*;

#[derive(Debug, Serialize, StrictSchema)]
pub struct Count {
    /// How many.
    pub many: u32,
}

/// Counts.
#[tool(example("One", { "text": "a" } => { "many": "one" }))]
pub fn count(
    /// What.
    text: String,
) -> Result<Count, ToolError> {
    Ok(Count { many: u32::try_from(text.len())? })
}

fn main() {}
