use tool_core::prelude::*;

/// Greets a person by name.
#[tool]
pub fn greet(#[variable("REGION")] region: &str) -> Result<String, ToolError> {
    Ok(region.to_owned())
}

fn main() {}
