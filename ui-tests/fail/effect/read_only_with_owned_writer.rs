use tool_core::Effect;
use tool_core::prelude::*;

/// A store.
#[derive(Clone)]
pub struct Store;

tool_core::host_value!(Store, Effect::READ.union(Effect::DESTROY));

/// Reads.
#[tool(read_only)]
pub async fn read(cx: &ToolContext, #[context] store: Option<Store>) -> Result<(), ToolError> {
    let _ = (cx, store);
    Ok(())
}

fn main() {}
