use tool_core::prelude::*;

use std::rc::Rc;

/// Greets a person by name.
#[tool]
pub fn greet(
    /// The argument `whom` of the tool.
    whom: Rc<str>,
) -> Result<String, ToolError> {
    Ok(whom.to_string())
}

fn main() {}
