use tool_core::prelude::*;

/// Why it failed.
pub struct Reason;

fn load() -> Result<String, Reason> {
    Err(Reason)
}

/// Reads.
#[tool]
pub fn read() -> ToolStream<u32, String> {
    tool_stream! {
        yield 1;
        load()?
    }
}

fn main() {}
