use tool_core::prelude::*;

use tool_core::toolset;

pub struct Plain;

/// Greets.
#[tool]
pub fn greet(
    /// Name.
    whom: Plain,
) -> Result<(), ToolError> {
    drop(whom);
    Ok(())
}

fn main() {
    let _ = toolset![greet];
}
