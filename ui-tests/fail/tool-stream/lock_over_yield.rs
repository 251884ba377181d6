use tool_core::prelude::*;

use std::sync::Mutex;

/// Counts.
#[tool]
pub fn count() -> ToolStream<u32, u32> {
    tool_stream! {
        let numbers = Mutex::new(vec![1, 2]);
        let guard = numbers.lock().unwrap();
        yield guard[0];
        guard[1]
    }
}

fn main() {}
