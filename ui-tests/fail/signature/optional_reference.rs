use tool_core::prelude::*;

use tool_core::Reads;

/// Greets a person by name.
#[tool]
pub fn greet(notes: Option<&Reads<u32>>) -> Result<u32, ToolError> {
    Ok(notes.map_or(0, |notes| **notes))
}

fn main() {}
