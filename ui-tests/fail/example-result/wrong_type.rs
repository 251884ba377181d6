use tool_core::prelude::*;

#[derive(Debug, Serialize, StrictSchema)]
pub struct Count {
    /// The field `many` of `Count`.
    pub many: u32,
}

/// Counts all of the items.
#[tool(example("One", { "text": "a" } => { "many": "one" }))]
pub fn count(
    /// The argument `text` of the tool.
    text: String,
) -> Result<Count, ToolError> {
    Ok(Count { many: u32::try_from(text.len())? })
}

fn main() {}
