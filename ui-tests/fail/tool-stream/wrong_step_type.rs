use tool_core::prelude::*;

/// Reads the value and returns it.
#[tool]
pub fn read() -> ToolStream<u32, String> {
    tool_stream! {
        yield "half";
        "done".to_owned()
    }
}

fn main() {}
