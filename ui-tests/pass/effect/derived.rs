use tool_core::Effect;
use tool_core::prelude::*;

/// Writes.
#[derive(Clone)]
pub struct Writer;

impl FromContext for Writer {
    const EFFECT: Effect = Effect::WRITE;

    fn from_context(_: &ToolContext) -> Result<Self, ToolError> {
        Ok(Self)
    }
}

/// Writes.
#[tool]
pub fn write(writer: &Writer) -> Result<(), ToolError> {
    let _ = writer;
    Ok(())
}

/// Computes.
#[tool]
pub fn compute() -> Result<u8, ToolError> {
    Ok(1)
}

fn main() {
    assert!(<write as Tool>::DEF.effect().contains(Effect::WRITE));
    assert!(<compute as Tool>::DEF.effect().is_none());
    let tools = toolset![write, compute];
    assert!(tools.get("compute").unwrap().schema(Dialect::Mcp).starts_with('{'));
    assert!(tools.definitions(Dialect::Mcp).contains("\"readOnlyHint\":true"));
}
