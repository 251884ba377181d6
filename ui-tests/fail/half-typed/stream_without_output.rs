use tool_core::prelude::*;
use tool_core::tool_stream;

/// Counts all of the items.
#[tool]
pub fn count(
    /// The argument `to` of the tool.
    to: u32,
) -> ToolStream<u32, String> {
    tool_stream! {
        yield to;
    }
}

fn main() {}
