use tool_core::prelude::*;

#[derive(serde::Serialize)]
pub struct Plain;

/// Returns a value, for this test.
#[tool]
pub fn make() -> Plain {
    Plain
}

fn main() {}
