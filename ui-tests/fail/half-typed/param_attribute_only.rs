use tool_core::prelude::*;
use tool_core::toolset;

/// Greets a person by name.
#[tool]
pub fn greet(
    /// The name of the person.
    #[arg(length = 1..=5)]
) -> Result<String, ToolError> {
    Ok(String::new())
}

fn main() {
    let _ = toolset![greet];
}
