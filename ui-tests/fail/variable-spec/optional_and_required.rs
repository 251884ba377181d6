use tool_core::prelude::*;

/// Greets a person by name.
#[tool]
pub fn greet(#[variable("REGION", optional)] region: String) -> Result<String, ToolError> {
    Ok(region)
}

fn main() {}
