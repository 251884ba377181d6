use tool_core::prelude::*;

/// The record `Name` of this test.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Name(String);

/// Greets a person by name.
#[tool]
pub fn greet(#[args] name: Name) -> Result<String, ToolError> {
    Ok(name.0)
}

fn main() {}
