use tool_core::prelude::*;

/// Greets a person by name.
#[tool(variable("REGION", secret))]
pub fn greet(#[variable("REGION")] region: String) -> Result<(), ToolError> {
    drop(region);
    Ok(())
}

fn main() {}
