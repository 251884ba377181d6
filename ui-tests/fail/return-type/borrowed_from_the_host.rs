use tool_core::prelude::*;

use tool_core::{Effect, host_value};

#[derive(Clone)]
pub struct Words(pub std::sync::Arc<str>);
host_value!(Words, Effect::READ);

/// Greets a person by name.
#[tool]
pub fn greet(words: &Words) -> Result<&str, ToolError> {
    Ok(&words.0)
}

fn main() {}
