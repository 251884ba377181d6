use tool_core::prelude::*;

/// Makes one.
#[tool]
pub fn make() -> Result<u8, std::cell::Cell<u8>> {
    Ok(1)
}

fn main() {}
