use tool_core::prelude::*;

/// The record `Reason` of this test.
pub struct Reason;

fn load() -> Result<String, Reason> {
    Err(Reason)
}

/// Reads the value and returns it.
#[tool]
pub fn read() -> ToolStream<u32, String> {
    tool_stream! {
        yield 1;
        load()?
    }
}

fn main() {}
