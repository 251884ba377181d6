use tool_core::prelude::*;
use tool_core::toolset;

/// Greets.
#[tool]
pub fn greet(
    /// Name.
    whom: String,
) -> Result<String, {
    Ok(whom)
}

fn main() {
    let _ = toolset![greet];
}
