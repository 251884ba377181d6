use tool_core::prelude::*;

/// Logs in.
#[tool]
pub fn login(
    /// A word.
    #[arg(pattern = r"^\bword\b$")]
    word: String,
) -> Result<(), ToolError> {
    drop(word);
    Ok(())
}

fn main() {}
