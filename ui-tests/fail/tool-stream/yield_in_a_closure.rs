use tool_core::prelude::*;

/// Counts all of the items.
#[tool]
pub fn count() -> ToolStream<u32, u32> {
    tool_stream! {
        (0..3).for_each(|i| {
            yield i;
        });
        3
    }
}

fn main() {}
