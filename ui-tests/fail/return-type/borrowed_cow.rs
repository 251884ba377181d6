use tool_core::prelude::*;

use std::borrow::Cow;

/// Greets a person by name.
#[tool]
pub fn greet(
    /// The argument `whom` of the tool.
    whom: String,
) -> Result<Cow<'_, str>, ToolError> {
    Ok(Cow::Owned(whom))
}

fn main() {}
