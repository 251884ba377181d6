use tool_core::prelude::*;

/// Reads lines.
#[tool(read_only)]
pub fn read_lines(
    cx: &ToolContext,
    /// How many.
    count: u32,
) -> ToolStream<u32, String> {
    tool_stream! {
        yield count;
        cx.principal().to_owned()
    }
}

fn main() {}
