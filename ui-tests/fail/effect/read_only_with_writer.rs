use tool_core::Effect;
use tool_core::prelude::*;

/// The record `Store` of this test.
#[derive(Clone)]
pub struct Store;

impl FromContext for Store {
    const EFFECT: Effect = Effect::WRITE;

    fn from_context(_: &ToolContext) -> Result<Self, ToolError> {
        Ok(Self)
    }
}

/// Reads the value and returns it.
#[tool(read_only)]
pub fn read(
    store: &Store,
    /// The argument `key` of the tool.
    key: String,
) -> Result<String, ToolError> {
    let _ = store;
    Ok(key)
}

fn main() {}
