use tool_core::prelude::*;

/// Reads the value and returns it.
#[tool]
pub fn read() -> ToolStream<u32, String> {
    tool_stream! {
        yield 1;
        return String::new();
    }
}

fn main() {}
