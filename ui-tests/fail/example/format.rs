use tool_core::prelude::*;

/// Lists.
#[tool(example("Yesterday", { "day": "2026-02-30" }))]
pub fn list(
    /// A day.
    #[arg(format = "date")]
    day: String,
) -> Result<String, ToolError> {
    Ok(day)
}

fn main() {}
