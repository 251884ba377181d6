use tool_core::prelude::*;

#[derive(serde::Serialize)]
pub struct Plain;

/// Makes one, for this test.
#[tool]
pub fn make() -> Plain {
    Plain
}

fn main() {}
