use tool_core::prelude::*;

/// Greets a person by name.
#[tool]
pub fn greet(#[variable("REGION")] region: Option<&str>) -> Result<bool, ToolError> {
    Ok(region.is_some())
}

fn main() {}
