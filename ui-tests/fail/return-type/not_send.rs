use tool_core::prelude::*;

use std::rc::Rc;

/// Returns a value, for this test.
#[tool]
pub fn make() -> Result<Rc<str>, ToolError> {
    Ok("a".into())
}

fn main() {}
