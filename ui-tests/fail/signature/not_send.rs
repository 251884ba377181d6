use std::rc::Rc;

use tool_core::prelude::*;

/// Waits.
#[tool]
pub async fn wait(
    /// How long.
    long: u32,
) -> Result<u32, ToolError> {
    let held = Rc::new(long);
    std::future::ready(()).await;
    Ok(*held)
}

fn main() {}
