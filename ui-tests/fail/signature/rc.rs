use tool_core::prelude::*;

use std::rc::Rc;

/// Greets.
#[tool]
pub fn greet(
    /// Name.
    whom: Rc<str>,
) -> Result<String, ToolError> {
    Ok(whom.to_string())
}

fn main() {}
