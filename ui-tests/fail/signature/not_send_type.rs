use tool_core::prelude::*;

use std::marker::PhantomData;

/// A name that stays in its thread.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Name {
    /// The text.
    pub text: String,
    #[serde(skip)]
    pub thread: PhantomData<*const ()>,
}

/// Greets.
#[tool]
pub fn greet(
    /// Name.
    whom: Name,
) -> Result<String, ToolError> {
    Ok(whom.text)
}

fn main() {}
