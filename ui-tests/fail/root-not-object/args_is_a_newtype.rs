use tool_core::prelude::*;

/// A name.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Name(String);

/// Greets.
#[tool]
pub fn greet(#[args] name: Name) -> Result<String, ToolError> {
    Ok(name.0)
}

fn main() {}
