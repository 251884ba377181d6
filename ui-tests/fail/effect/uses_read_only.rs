//! A read-only tool calls a tool that writes.

use tool_core::prelude::*;
use tool_core::{Effect, Uses};

#[derive(Clone)]
struct Store;
tool_core::host_value!(Store, Effect::WRITE);

/// Saves a number, for this test.
#[tool]
fn save(
    #[context] store: Store,
    /// The argument `n` of the tool.
    n: i32,
) -> i32 {
    let _ = store;
    n
}

/// Returns the saved number.
#[tool(read_only)]
async fn look(#[context] uses: Uses<(save,)>) -> Result<i32, ToolError> {
    uses.invoke(save { n: 1 }).await
}

fn main() {}
