use tool_core::prelude::*;

use tool_core::toolset;

pub struct Plain;

/// Greets a person by name.
#[tool]
pub fn greet(
    /// The argument `whom` of the tool.
    whom: Plain,
) -> Result<(), ToolError> {
    drop(whom);
    Ok(())
}

fn main() {
    let _ = toolset![greet];
}
