use tool_core::prelude::*;

/// Why it failed, which only people read.
pub struct Reason;

/// Makes one, for this test.
#[tool]
pub fn make() -> Result<u8, Reason> {
    Err(Reason)
}

fn main() {}
