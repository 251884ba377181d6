use tool_core::prelude::*;

#[derive(serde::Serialize)]
pub struct Plain;

/// Makes some, for this test.
#[tool]
pub fn make() -> Vec<Plain> {
    Vec::new()
}

/// Makes one, or none.
#[tool]
pub fn find() -> Option<Plain> {
    None
}

fn main() {}
