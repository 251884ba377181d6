use tool_core::Effect;
use tool_core::prelude::*;

/// The record `Store` of this test.
#[derive(Clone)]
pub struct Store;

tool_core::host_value!(Store, Effect::READ.union(Effect::DESTROY));

/// Reads the value and returns it.
#[tool(read_only)]
pub async fn read(cx: &ToolContext, #[context] store: Option<Store>) -> Result<(), ToolError> {
    let _ = (cx, store);
    Ok(())
}

fn main() {}
