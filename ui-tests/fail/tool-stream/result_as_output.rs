use tool_core::prelude::*;

/// Counts all of the items.
#[tool]
pub fn count() -> ToolStream<u32, Result<u32, ToolError>> {
    tool_stream! {
        yield 1;
        Ok(2)
    }
}

fn main() {}
