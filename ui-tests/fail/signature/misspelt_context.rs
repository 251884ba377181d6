use tool_core::prelude::*;

use tool_core::Reads;

/// Greets a person by name.
#[tool]
pub fn greet(#[contxt] notes: Reads<u32>) -> Result<u32, ToolError> {
    Ok(*notes)
}

fn main() {}
