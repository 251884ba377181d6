use tool_core::prelude::*;

use std::rc::Rc;

/// Greets.
#[tool]
pub async fn greet(
    /// Name.
    whom: Option<Vec<Rc<str>>>,
    /// How often.
    often: u8,
) -> Result<String, ToolError> {
    Ok(format!("{whom:?} {often}"))
}

fn main() {}
