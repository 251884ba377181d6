use std::rc::Rc;

use tool_core::prelude::*;

/// The tool `wait` of this test.
#[tool]
pub async fn wait(
    /// The argument `long` of the tool.
    long: u32,
) -> Result<u32, ToolError> {
    let held = Rc::new(long);
    std::future::ready(()).await;
    Ok(*held)
}

fn main() {}
