use tool_core::prelude::*;

/// Lists all of the entries.
#[tool(example("Yesterday", { "day": "2026-02-30" }))]
pub fn list(
    /// The argument `day` of the tool.
    #[arg(format = "date")]
    day: String,
) -> Result<String, ToolError> {
    Ok(day)
}

fn main() {}
