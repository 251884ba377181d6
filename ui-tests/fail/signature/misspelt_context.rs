use tool_core::prelude::*;

use tool_core::Reads;

/// Greets.
#[tool]
pub fn greet(#[contxt] notes: Reads<u32>) -> Result<u32, ToolError> {
    Ok(*notes)
}

fn main() {}
