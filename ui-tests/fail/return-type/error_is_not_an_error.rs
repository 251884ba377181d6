use tool_core::prelude::*;

/// The reason of the failure, which only people read.
pub struct Reason;

/// Returns a value, for this test.
#[tool]
pub fn make() -> Result<u8, Reason> {
    Err(Reason)
}

fn main() {}
