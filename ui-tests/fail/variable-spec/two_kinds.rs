use tool_core::prelude::*;

/// Greets.
#[tool(variable("REGION", secret))]
pub fn greet(#[variable("REGION")] region: String) -> Result<(), ToolError> {
    drop(region);
    Ok(())
}

fn main() {}
