use tool_core::prelude::*;

use std::rc::Rc;

/// Greets a person by name.
#[tool]
pub async fn greet(
    /// The argument `whom` of the tool.
    whom: Option<Vec<Rc<str>>>,
    /// The argument `often` of the tool.
    often: u8,
) -> Result<String, ToolError> {
    Ok(format!("{whom:?} {often}"))
}

fn main() {}
