use tool_core::prelude::*;

/// Reads lines, for this test.
#[tool(read_only)]
pub fn read_lines(
    cx: &ToolContext,
    /// The argument `count` of the tool.
    count: u32,
) -> ToolStream<u32, String> {
    tool_stream! {
        yield count;
        cx.principal().to_owned()
    }
}

fn main() {}
