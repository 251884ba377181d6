use tool_core::prelude::*;

/// Logs in, for this test.
#[tool]
pub fn login(
    /// The argument `word` of the tool.
    #[arg(pattern = r"^\bword\b$")]
    word: String,
) -> Result<(), ToolError> {
    drop(word);
    Ok(())
}

fn main() {}
