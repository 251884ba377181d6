use tool_core::prelude::*;

use std::marker::PhantomData;

/// A name that cannot be sent to a different thread.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Name {
    /// The field `text` of `Name`.
    pub text: String,
    #[serde(skip)]
    pub thread: PhantomData<*const ()>,
}

/// Greets a person by name.
#[tool]
pub fn greet(
    /// The argument `whom` of the tool.
    whom: Name,
) -> Result<String, ToolError> {
    Ok(whom.text)
}

fn main() {}
