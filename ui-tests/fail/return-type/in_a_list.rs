use tool_core::prelude::*;

#[derive(serde::Serialize)]
pub struct Plain;

/// Returns several values, for this test.
#[tool]
pub fn make() -> Vec<Plain> {
    Vec::new()
}

/// Returns an optional value.
#[tool]
pub fn find() -> Option<Plain> {
    None
}

fn main() {}
