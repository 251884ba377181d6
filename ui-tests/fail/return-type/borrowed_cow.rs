use tool_core::prelude::*;

use std::borrow::Cow;

/// Greets.
#[tool]
pub fn greet(
    /// Name.
    whom: String,
) -> Result<Cow<'_, str>, ToolError> {
    Ok(Cow::Owned(whom))
}

fn main() {}
