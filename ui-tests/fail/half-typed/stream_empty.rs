use tool_core::prelude::*;
use tool_core::tool_stream;

/// Counts.
#[tool]
pub fn count(
    /// How far.
    to: u32,
) -> ToolStream<u32, String> {
    tool_stream! {}
}

fn main() {}
