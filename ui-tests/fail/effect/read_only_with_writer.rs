use tool_core::Effect;
use tool_core::prelude::*;

/// A store.
#[derive(Clone)]
pub struct Store;

impl FromContext for Store {
    const EFFECT: Effect = Effect::WRITE;

    fn from_context(_: &ToolContext) -> Result<Self, ToolError> {
        Ok(Self)
    }
}

/// Reads.
#[tool(read_only)]
pub fn read(
    store: &Store,
    /// What.
    key: String,
) -> Result<String, ToolError> {
    let _ = store;
    Ok(key)
}

fn main() {}
